/* A TFLite delegate that computes ADD, MUL and FULLY_CONNECTED on float32, and fails as it is told.
 *
 * It is loaded with `load_delegate(path, options)`. Options:
 *
 *     runtime      required: the runtime that loads it, by name and version; refused if it is not among `verified`
 *     kind, point, nth, times, seconds, instance   one fault to arm, as in `racegate_arm`
 *     thread_bound 1: instances work on the thread that made them alone
 */
#define _GNU_SOURCE
#include "faults.h"
#include "tflite_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The runtimes with which the layout was measured. */
static const char* const verified[] = {"tflite-runtime 2.14.0", "ai-edge-litert 2.3.0"};
enum { VERIFIED = sizeof(verified) / sizeof(verified[0]) };

const unsigned library_points =
    1u << AT_CREATE | 1u << AT_PREPARE | 1u << AT_INIT | 1u << AT_ALLOCATE | 1u << AT_INVOKE | 1u << AT_DESTROY;

/* One delegate. It outlives its kernels, so that a runtime that destroys it first is counted and not crashed. */
typedef struct {
  Delegate base;
  int64_t number;
  pthread_t owner;
  int kernels;   /* under `uses` */
  int destroyed; /* under `uses` */
} Instance;

typedef struct {
  int code;
  int in0, in1, in2; /* -1: none */
  int out;
} Step;

/* One partition of the graph. */
typedef struct {
  Instance* instance;
  int64_t number;
  pthread_t owner;
  Step* steps;
  int steps_size;
  IntArray* outputs;   /* tensors that leave the partition */
  float** own;         /* by tensor: memory of those that do not */
  size_t tensors_size;
  LastOutput* last; /* by output */
  int in_flight;    /* under `uses` */
  int doomed;       /* under `uses`: freed while in flight */
} Kernel;

static pthread_mutex_t uses = PTHREAD_MUTEX_INITIALIZER;

static IntArray* copied(const IntArray* array) {
  const size_t bytes = sizeof(IntArray) + sizeof(int) * (size_t)array->size;
  IntArray* copy = malloc(bytes);
  if (copy) memcpy(copy, array, bytes);
  return copy;
}

static size_t elements(const Tensor* tensor) { return tensor->bytes / sizeof(float); }

/* The run-time half of the layout check: nothing that the runtime points to is believed before it was looked at. */

static int is_mapped(const void* start, size_t bytes) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start / page * page;
  const uintptr_t pages = ((uintptr_t)start + bytes - first + page - 1) / page;
  unsigned char resident[16];
  return start && (uintptr_t)start % sizeof(int) == 0 && pages <= sizeof(resident) &&
         mincore((void*)first, pages * page, resident) == 0;
}

static int is_array(const IntArray* array, int most) {
  return is_mapped(array, sizeof(IntArray)) && array->size >= 0 && array->size <= most;
}

/* A context's functions come from one shared object, the runtime's; what stands between and behind them does not. */
static int is_context(const Context* context) {
  void* const functions[] = {(void*)context->get_execution_plan,        (void*)context->resize_tensor,
                             (void*)context->report_error,              (void*)context->add_tensors,
                             (void*)context->get_node_and_registration, (void*)context->replace_nodes};
  Dl_info info;
  void* base = NULL;
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (!dladdr(functions[i], &info) || (base && base != info.dli_fbase)) return 0;
    base = info.dli_fbase;
  }
  return !dladdr(context->impl, &info) && context->recommended_num_threads >= -1 &&
         context->recommended_num_threads <= 1 << 16 && context->tensors_size > 0 &&
         is_mapped(context->tensors, sizeof(Tensor));
}

static int is_tensor(const Context* context, int index) {
  if (index < 0 || (size_t)index >= context->tensors_size) return 0;
  const Tensor* tensor = &context->tensors[index];
  if (!is_mapped(tensor, sizeof(Tensor)) || !is_array(tensor->dims, 8)) return 0;
  if (!is_mapped(tensor->dims, sizeof(IntArray) + sizeof(int) * (size_t)tensor->dims->size)) return 0;
  size_t size = sizeof(float);
  for (int i = 0; i < tensor->dims->size; ++i) size *= (size_t)tensor->dims->data[i];
  return tensor->type != kFloat32 || tensor->bytes == size || tensor->allocation_type == kDynamic;
}

static int is_node(const Node* node, const Registration* registration) {
  return is_mapped(node, sizeof(Node)) && is_mapped(registration, offsetof(Registration, version)) &&
         is_array(node->inputs, 1 << 16) && is_array(node->outputs, 1 << 16);
}

static int is_ours(const Context* context, int index) {
  const Tensor* tensor = &context->tensors[index];
  return tensor->type == kFloat32 && tensor->allocation_type != kDynamic;
}

static int fits(const Context* context, const Step* step) {
  const Tensor* tensors = context->tensors;
  const size_t n0 = elements(&tensors[step->in0]), n1 = elements(&tensors[step->in1]), n = elements(&tensors[step->out]);
  if (step->code != kFullyConnected) return (n0 == n || n0 == 1) && (n1 == n || n1 == 1) && n > 0;
  const IntArray* weights = tensors[step->in1].dims;
  if (weights->size != 2 || weights->data[0] < 1 || weights->data[1] < 1) return 0;
  const size_t rows = (size_t)weights->data[0], columns = (size_t)weights->data[1];
  if (step->in2 >= 0 && elements(&tensors[step->in2]) != rows) return 0;
  return n0 % columns == 0 && n == n0 / columns * rows;
}

/* Read a node: 1 and the step if we compute it, 0 if not, -1 if the layout is not the declared one. */
static int step_of(Context* context, int index, Step* step) {
  Node* node = NULL;
  Registration* registration = NULL;
  if (context->get_node_and_registration(context, index, &node, &registration) != kOk) return -1;
  if (!is_node(node, registration)) return -1;
  const int code = registration->builtin_code;
  if (code != kAdd && code != kMul && code != kFullyConnected) return 0;
  const int inputs = node->inputs->size;
  if (node->outputs->size != 1 || inputs < 2 || inputs > 3) return -1;
  *step = (Step){code, node->inputs->data[0], node->inputs->data[1], inputs == 3 ? node->inputs->data[2] : -1,
                 node->outputs->data[0]};
  const int used[4] = {step->in0, step->in1, step->out, step->in2};
  for (int i = 0; i < (step->in2 >= 0 ? 4 : 3); ++i) {
    if (!is_tensor(context, used[i])) return -1;
    if (!is_ours(context, used[i])) return 0;
  }
  /* The options of all three begin with the fused activation, where 0 is none; those of the last go on with the weights'
   * format, where 0 is the plain one. */
  const int* options = node->builtin_data;
  if (!is_mapped(options, 2 * sizeof(int))) return -1;
  if (options[0] != 0 || (code == kFullyConnected && options[1] != 0)) return 0;
  return fits(context, step);
}

static float* values(Kernel* kernel, Context* context, int index) {
  float* own = (size_t)index < kernel->tensors_size ? kernel->own[index] : NULL;
  return own ? own : context->tensors[index].data;
}

static void fully_connect(const float* x, const float* weights, const float* bias, float* y, const IntArray* shape,
                          size_t batches) {
  const size_t rows = (size_t)shape->data[0], columns = (size_t)shape->data[1];
  for (size_t b = 0; b < batches; ++b)
    for (size_t row = 0; row < rows; ++row) {
      float sum = bias ? bias[row] : 0.0f;
      for (size_t column = 0; column < columns; ++column) sum += x[b * columns + column] * weights[row * columns + column];
      y[b * rows + row] = sum;
    }
}

static int compute(Kernel* kernel, Context* context, const Step* step) {
  const Tensor* tensors = context->tensors;
  const float *a = values(kernel, context, step->in0), *b = values(kernel, context, step->in1);
  const float* c = step->in2 < 0 ? NULL : values(kernel, context, step->in2);
  float* y = values(kernel, context, step->out);
  if (!a || !b || !y || !fits(context, step)) return kError;
  const size_t n = elements(&tensors[step->out]);
  const size_t na = elements(&tensors[step->in0]), nb = elements(&tensors[step->in1]);
  if (step->code == kFullyConnected) {
    fully_connect(a, b, c, y, tensors[step->in1].dims, na / (size_t)tensors[step->in1].dims->data[1]);
    return kOk;
  }
  for (size_t i = 0; i < n; ++i) {
    const float left = a[na == 1 ? 0 : i], right = b[nb == 1 ? 0 : i];
    y[i] = step->code == kAdd ? left + right : left * right;
  }
  return kOk;
}

/* A kernel is gone: the last one of a destroyed instance takes the instance along. */
static void release(Instance* instance) {
  pthread_mutex_lock(&uses);
  const int over = --instance->kernels == 0 && instance->destroyed;
  pthread_mutex_unlock(&uses);
  if (over) free(instance);
}

static void discard(Kernel* kernel) {
  for (size_t i = 0; kernel->own && i < kernel->tensors_size; ++i) free(kernel->own[i]);
  for (int i = 0; kernel->last && i < kernel->outputs->size; ++i) free(kernel->last[i].values);
  free(kernel->own);
  free(kernel->last);
  free(kernel->outputs);
  free(kernel->steps);
  free(kernel);
}

static Kernel* built(Context* context, const DelegateParams* params) {
  Kernel* kernel = calloc(1, sizeof(Kernel));
  if (!kernel) return NULL;
  const int size = params->nodes_to_replace->size;
  kernel->tensors_size = context->tensors_size;
  kernel->outputs = copied(params->output_tensors);
  kernel->steps = calloc((size_t)size, sizeof(Step));
  kernel->own = calloc(kernel->tensors_size, sizeof(float*));
  kernel->last = kernel->outputs ? calloc((size_t)kernel->outputs->size + 1, sizeof(LastOutput)) : NULL;
  int good = kernel->outputs && kernel->steps && kernel->own && kernel->last;
  for (int i = 0; good && i < size; ++i)
    good = step_of(context, params->nodes_to_replace->data[i], &kernel->steps[kernel->steps_size++]) == 1;
  if (good) return kernel;
  discard(kernel);
  return NULL;
}

/* NULL is a failure, which `kernel_prepare` then reports: not every version knows another sign. */
static void* kernel_init(Context* context, const char* buffer, size_t length) {
  (void)length;
  const DelegateParams* params = (const DelegateParams*)buffer;
  Instance* instance = (Instance*)params->delegate;
  if (strike(AT_INIT, instance->number) == STRUCK_FAIL) return NULL;
  Kernel* kernel = built(context, params);
  if (!kernel) return NULL;
  kernel->instance = instance;
  kernel->number = instance->number;
  kernel->owner = instance->owner;
  pthread_mutex_lock(&uses);
  instance->kernels += 1;
  pthread_mutex_unlock(&uses);
  count(LIVE_KERNELS, 1);
  return kernel;
}

static void kernel_free(Context* context, void* buffer) {
  (void)context;
  Kernel* kernel = buffer;
  if (!kernel) return;
  count(LIVE_KERNELS, -1);
  pthread_mutex_lock(&uses);
  const int flying = kernel->doomed = kernel->in_flight > 0;
  pthread_mutex_unlock(&uses);
  if (flying) {
    count(FREED_IN_FLIGHT, 1); /* the last call in flight discards it */
    return;
  }
  release(kernel->instance);
  discard(kernel);
}

static int leaves(const Kernel* kernel, int tensor) {
  for (int i = 0; i < kernel->outputs->size; ++i)
    if (kernel->outputs->data[i] == tensor) return 1;
  return 0;
}

static int kernel_prepare(Context* context, Node* node) {
  Kernel* kernel = node->user_data;
  if (!kernel) {
    context->report_error(context, "racegate: the kernel was not initialized (injected or out of memory)");
    return kError;
  }
  if (strike(AT_ALLOCATE, kernel->number) == STRUCK_FAIL) {
    context->report_error(context, "racegate: injected: the kernel does not prepare");
    return kError;
  }
  for (int i = 0; i < kernel->steps_size; ++i) {
    const int out = kernel->steps[i].out;
    if (leaves(kernel, out)) continue;
    free(kernel->own[out]);
    kernel->own[out] = calloc(1, context->tensors[out].bytes + sizeof(float));
    if (!kernel->own[out]) return kError;
  }
  return kOk;
}

static int run(Kernel* kernel, Context* context, Struck struck) {
  for (int i = 0; i < kernel->steps_size; ++i)
    if (compute(kernel, context, &kernel->steps[i]) != kOk) return kError;
  for (int i = 0; i < kernel->outputs->size; ++i) {
    const Tensor* tensor = &context->tensors[kernel->outputs->data[i]];
    if (falsify(struck, tensor->data, elements(tensor), &kernel->last[i])) return kError;
  }
  return kOk;
}

static void enter(Kernel* kernel) {
  pthread_mutex_lock(&uses);
  const int others = kernel->in_flight++;
  pthread_mutex_unlock(&uses);
  if (others) count(OVERLAPPING_INVOKES, 1);
}

/* Returns whether the kernel was freed meanwhile: then neither it nor the context may be touched again. */
static int leave(Kernel* kernel) {
  pthread_mutex_lock(&uses);
  const int last = --kernel->in_flight == 0, doomed = kernel->doomed;
  pthread_mutex_unlock(&uses);
  if (doomed && last) {
    release(kernel->instance);
    discard(kernel);
  }
  return doomed;
}

static int is_doomed(const Kernel* kernel) {
  pthread_mutex_lock(&uses);
  const int doomed = kernel->doomed;
  pthread_mutex_unlock(&uses);
  return doomed;
}

static int kernel_invoke(Context* context, Node* node) {
  Kernel* kernel = node->user_data;
  enter(kernel);
  const int elsewhere = foreign(kernel->owner, FOREIGN_INVOKES);
  const Struck struck = strike(AT_INVOKE, kernel->number);
  int status = kError;
  if (is_doomed(kernel)) {
    leave(kernel);
    return kError;
  }
  if (elsewhere)
    context->report_error(context, "racegate: injected: invoked on another thread than the delegate was made on");
  else if (struck == STRUCK_FAIL)
    context->report_error(context, "racegate: injected: the invoke failed");
  else
    status = run(kernel, context, struck);
  return leave(kernel) ? kError : status;
}

/* The nodes that we compute, or NULL. `*damage` says that the graph does not read like one of a verified runtime. */
static IntArray* ours(Context* context, int* damage) {
  IntArray* plan = NULL;
  *damage = context->get_execution_plan(context, &plan) != kOk || !is_array(plan, 1 << 20);
  if (*damage) return NULL;
  IntArray* order = copied(plan); /* the next call may invalidate the plan */
  IntArray* taken = copied(plan);
  for (int i = taken ? taken->size = 0 : 0; order && taken && i < order->size && !*damage; ++i) {
    Step step;
    const int computes = step_of(context, order->data[i], &step);
    *damage = computes < 0;
    if (computes == 1) taken->data[taken->size++] = order->data[i];
  }
  free(order);
  return taken;
}

static int prepare(Context* context, Delegate* delegate) {
  Instance* instance = (Instance*)delegate;
  if (!is_context(context)) { /* without a word: where to report it is not known either */
    count(REFUSALS, 1);
    return kError;
  }
  if (strike(AT_PREPARE, instance->number) == STRUCK_FAIL) {
    context->report_error(context, "racegate: injected: the delegate does not prepare");
    return kError;
  }
  int damage = 0;
  IntArray* taken = ours(context, &damage);
  int status = taken && !damage ? kOk : kError;
  if (damage) {
    count(REFUSALS, 1);
    context->report_error(context, "racegate: refused: the graph is not laid out as in the verified runtimes");
  } else if (taken && taken->size > 0) {
    const Registration kernel = {.init = kernel_init,
                                 .free = kernel_free,
                                 .prepare = kernel_prepare,
                                 .invoke = kernel_invoke,
                                 .custom_name = "RacegateFaults",
                                 .version = 1};
    status = context->replace_nodes(context, kernel, taken, delegate);
  }
  free(taken);
  return status;
}

/* One option after another; a name that nobody knows is an error, so that a typo is not a default. */
typedef struct {
  const char *runtime, *kind, *point;
  int64_t nth, times, instance;
  double seconds;
  int thread_bound;
} Options;

static const char* read_option(Options* options, const char* key, const char* value) {
  if (strcmp(key, "runtime") == 0) options->runtime = value;
  else if (strcmp(key, "kind") == 0) options->kind = value;
  else if (strcmp(key, "point") == 0) options->point = value;
  else if (strcmp(key, "nth") == 0) options->nth = strtoll(value, NULL, 10);
  else if (strcmp(key, "times") == 0) options->times = strtoll(value, NULL, 10);
  else if (strcmp(key, "instance") == 0) options->instance = strtoll(value, NULL, 10);
  else if (strcmp(key, "seconds") == 0) options->seconds = strtod(value, NULL);
  else if (strcmp(key, "thread_bound") == 0) options->thread_bound = strcmp(value, "0") != 0;
  else return key;
  return NULL;
}

static int is_verified(const char* runtime) {
  for (int i = 0; runtime && i < VERIFIED; ++i)
    if (strcmp(runtime, verified[i]) == 0) return 1;
  return 0;
}

static Delegate* refused(void (*report)(const char*), const char* what, const char* which) {
  char text[256];
  count(REFUSALS, 1);
  snprintf(text, sizeof(text), "racegate faults: refused: %s %s; verified are %s and %s", what, which, verified[0],
           verified[1]);
  if (report) report(text);
  return NULL;
}

/* Python passes `count` as an int, C callers as a size_t: the lower half is right for both. */
EXPORTED Delegate* tflite_plugin_create_delegate(char** keys, char** option_values, int option_count,
                                                 void (*report)(const char*)) {
  Options options = {.nth = 1, .times = 1, .seconds = 5.0, .point = "invoke"};
  for (int i = 0; i < option_count; ++i) {
    const char* unknown = read_option(&options, keys[i], option_values[i]);
    if (unknown) return refused(report, "no option is called", unknown);
  }
  if (!is_verified(options.runtime))
    return refused(report, "not verified in", options.runtime ? options.runtime : "a runtime without a name");
  const char* problem = options.kind ? racegate_arm(options.kind, options.point, options.nth, options.times,
                                                    options.seconds, options.instance)
                                     : NULL;
  if (problem) return refused(report, "cannot arm that:", problem);
  if (options.thread_bound) racegate_bind_threads(1);
  const int64_t number = next_instance();
  Instance* instance = strike(AT_CREATE, number) == STRUCK_FAIL ? NULL : calloc(1, sizeof(Instance));
  if (!instance) {
    if (report) report("racegate: injected: the delegate is not created");
    return NULL;
  }
  instance->base.prepare = prepare;
  instance->number = number;
  instance->owner = pthread_self();
  count(LIVE_DELEGATES, 1);
  return &instance->base;
}

EXPORTED void tflite_plugin_destroy_delegate(Delegate* delegate) {
  Instance* instance = (Instance*)delegate;
  if (!instance) return; /* Python's loader also destroys what it did not get */
  foreign(instance->owner, FOREIGN_DESTROYS);
  strike(AT_DESTROY, instance->number);
  count(LIVE_DELEGATES, -1);
  pthread_mutex_lock(&uses);
  instance->destroyed = 1;
  const int kernels = instance->kernels;
  pthread_mutex_unlock(&uses);
  if (kernels)
    count(DESTROYED_IN_USE, 1);
  else
    free(instance);
}

/* The verified runtimes, one a line. */
EXPORTED const char* racegate_verified(void) {
  static char text[256];
  snprintf(text, sizeof(text), "%s\n%s", verified[0], verified[1]);
  return text;
}
