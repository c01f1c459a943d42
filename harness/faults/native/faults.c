#define _GNU_SOURCE
#include "faults.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef enum { FAIL, HANG, SLOW, WRONG, STALE, NAN_OUTPUT, ABORT, SEGFAULT, BUS, KINDS } Kind;

static const char* const kind_names[KINDS] = {"fail", "hang", "slow", "wrong", "stale", "nan", "abort", "segfault", "bus"};
static const char* const point_names[POINTS] = {"create", "prepare", "init", "allocate", "invoke", "destroy"};
/* The order is that of `Counter`. */
static const char counter_names[] =
    "creates prepares inits allocates invokes destroys live_delegates live_kernels strikes held gate_timeouts "
    "foreign_invokes foreign_destroys overlapping_invokes destroyed_in_use freed_in_flight refusals newest_instance";

typedef struct {
  Kind kind;
  Point point;
  int64_t calls_left; /* until the first strike; 0 is the call that is struck first */
  int64_t times;      /* 0: for ever */
  int64_t instance;   /* 0: any */
  double seconds;
} Armed;

/* A call that waits at the gate. It lives on the stack of that call. */
typedef struct Waiting {
  int64_t instance;
  int let_go;
  struct Waiting* next;
} Waiting;

enum { MOST_ARMED = 64 };

/* Everything below is read and written under `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static Armed armed[MOST_ARMED];
static int armed_size;
static int64_t counters[COUNTERS];
static int gate_open;
static Waiting* waiting;
static int threads_bound;

__attribute__((constructor)) static void start(void) {
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
}

static struct timespec after(double seconds) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_sec += (time_t)seconds;
  at.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (at.tv_nsec >= 1000000000L) {
    at.tv_sec += 1;
    at.tv_nsec -= 1000000000L;
  }
  return at;
}

static void forget(const Waiting* me) {
  Waiting** link = &waiting;
  while (*link != me) link = &(*link)->next;
  *link = me->next;
}

/* Wait at the gate. A call that waited when calls were let go passes, whatever the gate does next. */
static Struck hang(double seconds, int64_t instance) {
  const struct timespec deadline = after(seconds);
  int late = 0;
  pthread_mutex_lock(&lock);
  Waiting me = {instance, gate_open, waiting};
  waiting = &me;
  counters[HELD] += 1;
  pthread_cond_broadcast(&changed);
  while (!me.let_go && !late) late = pthread_cond_timedwait(&changed, &lock, &deadline) == ETIMEDOUT;
  forget(&me);
  counters[HELD] -= 1;
  counters[GATE_TIMEOUTS] += !me.let_go;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return me.let_go ? STRUCK_NOT : STRUCK_FAIL;
}

/* Let go of what waits now, of one instance or, for 0, of all. Under `lock`. */
static void let_go(int64_t instance) {
  for (Waiting* each = waiting; each; each = each->next)
    if (!instance || each->instance == instance) each->let_go = 1;
  pthread_cond_broadcast(&changed);
}

static void slow(double seconds) {
  const struct timespec until = after(seconds);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

/* Read an address that is not there. Through volatile: a compiler may turn a null access that it sees into a trap. */
static void segfault(void) {
  volatile uintptr_t nowhere = 0;
  *(volatile char*)nowhere = 1;
}

/* Read a page of a file that has been cut off: the real bus error of a model file truncated while it is mapped. */
static void bus(void) {
  char name[] = "/tmp/racegate-bus-XXXXXX";
  const int file = mkstemp(name);
  if (file >= 0) {
    unlink(name);
    if (ftruncate(file, 1) == 0) {
      volatile char* page = mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0);
      if (page != MAP_FAILED && ftruncate(file, 0) == 0) (void)*page;
    }
  }
  raise(SIGBUS); /* where there is no temporary file */
}

static Struck perform(const Armed* fault, int64_t instance) {
  switch (fault->kind) {
    case FAIL: return STRUCK_FAIL;
    case HANG: return hang(fault->seconds, instance);
    case SLOW: slow(fault->seconds); return STRUCK_NOT;
    case WRONG: return STRUCK_WRONG;
    case STALE: return STRUCK_STALE;
    case NAN_OUTPUT: return STRUCK_NAN;
    case ABORT: abort();
    case SEGFAULT: segfault(); return STRUCK_NOT;
    case BUS: bus(); return STRUCK_NOT;
    default: return STRUCK_NOT;
  }
}

static int is_over(const Armed* fault) { return fault->times > 0 && fault->calls_left <= -fault->times; }

/* Count one call for a fault and say whether it is struck. */
static int strikes(Armed* fault, Point point, int64_t instance) {
  if (fault->point != point || (fault->instance && fault->instance != instance) || is_over(fault)) return 0;
  if (fault->calls_left > 0) {
    fault->calls_left -= 1;
    return 0;
  }
  if (fault->times > 0) fault->calls_left -= 1;
  return 1;
}

Struck strike(Point point, int64_t instance) {
  Armed striking[MOST_ARMED];
  int size = 0;
  pthread_mutex_lock(&lock);
  counters[point] += 1;
  for (int i = 0; i < armed_size; ++i)
    if (strikes(&armed[i], point, instance)) striking[size++] = armed[i];
  counters[STRIKES] += size;
  pthread_mutex_unlock(&lock);
  Struck result = STRUCK_NOT;
  for (int i = 0; i < size; ++i) {
    const Struck one = perform(&striking[i], instance);
    if (result != STRUCK_FAIL && one != STRUCK_NOT) result = one;
  }
  return result;
}

void count(Counter counter, int64_t change) {
  pthread_mutex_lock(&lock);
  counters[counter] += change;
  pthread_mutex_unlock(&lock);
}

int64_t next_instance(void) {
  pthread_mutex_lock(&lock);
  const int64_t number = ++counters[NEWEST_INSTANCE];
  pthread_mutex_unlock(&lock);
  return number;
}

int foreign(pthread_t owner, Counter counter) {
  if (pthread_equal(owner, pthread_self())) return 0;
  pthread_mutex_lock(&lock);
  counters[counter] += 1;
  const int bound = threads_bound;
  pthread_mutex_unlock(&lock);
  return bound;
}

int falsify(Struck struck, float* output, size_t size, LastOutput* last) {
  pthread_mutex_lock(&lock); /* two runs of one ONNX Runtime kernel may overlap */
  if (last->size != size) {
    free(last->values);
    last->values = calloc(size ? size : 1, sizeof(float));
    last->size = last->values ? size : 0;
  }
  const int failed = last->values == NULL;
  for (size_t i = 0; i < size && !failed; ++i) {
    const float truth = output[i];
    if (struck == STRUCK_STALE) output[i] = last->values[i];
    if (struck == STRUCK_WRONG) output[i] = truth + 1.0f;
    if (struck == STRUCK_NAN) output[i] = NAN;
    last->values[i] = truth;
  }
  pthread_mutex_unlock(&lock);
  return failed ? -1 : 0;
}

static int named(const char* name, const char* const* names, int size) {
  for (int i = 0; i < size; ++i)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

static const char* refuse(int kind, int point, int64_t nth, int64_t times, double seconds) {
  if (kind < 0) return "no such kind of fault";
  if (point < 0 || !(library_points & 1u << point)) return "this library has no such point";
  if (point != AT_INVOKE && (kind == WRONG || kind == STALE || kind == NAN_OUTPUT)) return "only invoke has an output";
  if (point == AT_DESTROY && kind == FAIL) return "destroy returns nothing: it cannot fail";
  if (nth < 1 || times < 0) return "nth is at least 1, times at least 0";
  if (!(seconds >= 0 && seconds <= 3600)) return "seconds are between 0 and 3600";
  return NULL;
}

const char* racegate_arm(const char* kind_name, const char* point_name, int64_t nth, int64_t times, double seconds,
                         int64_t instance) {
  const int kind = named(kind_name, kind_names, KINDS);
  const int point = named(point_name, point_names, POINTS);
  const char* problem = refuse(kind, point, nth, times, seconds);
  if (problem) return problem;
  const Armed fault = {(Kind)kind, (Point)point, nth - 1, times, instance, seconds};
  pthread_mutex_lock(&lock);
  int kept = 0;
  for (int i = 0; i < armed_size; ++i)
    if (!is_over(&armed[i])) armed[kept++] = armed[i];
  armed_size = kept;
  if (armed_size < MOST_ARMED)
    armed[armed_size++] = fault;
  else
    problem = "too many faults are armed";
  pthread_mutex_unlock(&lock);
  return problem;
}

EXPORTED void racegate_disarm(void) {
  pthread_mutex_lock(&lock);
  armed_size = 0;
  pthread_mutex_unlock(&lock);
}

void racegate_bind_threads(int bound) {
  pthread_mutex_lock(&lock);
  threads_bound = bound;
  pthread_mutex_unlock(&lock);
}

EXPORTED void racegate_gate(int open) {
  pthread_mutex_lock(&lock);
  gate_open = open;
  if (open) let_go(0);
  pthread_mutex_unlock(&lock);
}

/* Let go of the calls held now, of one instance or, for 0, of all, and of no other. */
EXPORTED void racegate_let_go(int64_t instance) {
  pthread_mutex_lock(&lock);
  let_go(instance);
  pthread_mutex_unlock(&lock);
}

/* Wait until at least `calls` are held at the gate: 1; after `seconds`: 0. */
EXPORTED int racegate_wait_held(int64_t calls, double seconds) {
  const struct timespec deadline = after(seconds);
  pthread_mutex_lock(&lock);
  int timed_out = 0;
  while (counters[HELD] < calls && !timed_out)
    timed_out = pthread_cond_timedwait(&changed, &lock, &deadline) == ETIMEDOUT;
  const int reached = counters[HELD] >= calls;
  pthread_mutex_unlock(&lock);
  return reached;
}

EXPORTED const char* racegate_counter_names(void) { return counter_names; }

/* The points that this library has, as bits in the order of `Point`. */
EXPORTED unsigned racegate_points(void) { return library_points; }

/* Copy the first `size` counters, all at one moment. */
EXPORTED void racegate_counters(int64_t* out, int size) {
  pthread_mutex_lock(&lock);
  memcpy(out, counters, sizeof(int64_t) * (size_t)(size < COUNTERS ? size : COUNTERS));
  pthread_mutex_unlock(&lock);
}

/* Disarm, let go of what the gate holds, close the gate, unbind threads. What is live or held stays counted, and
 * instances keep their numbers. */
EXPORTED void racegate_reset(void) {
  pthread_mutex_lock(&lock);
  armed_size = 0;
  threads_bound = 0;
  gate_open = 0;
  let_go(0);
  for (int i = 0; i < COUNTERS; ++i)
    if (i != LIVE_DELEGATES && i != LIVE_KERNELS && i != HELD && i != NEWEST_INSTANCE) counters[i] = 0;
  pthread_mutex_unlock(&lock);
}
