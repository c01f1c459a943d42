/* The fault plan, the gate and the counters of one library. The TFLite delegate and the ONNX Runtime operator each link
 * a copy of their own. Every function may be called from any thread. */
#ifndef RACEGATE_FAULTS_H
#define RACEGATE_FAULTS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

/* What a struck call still has to do itself. The other kinds (hang, slow, abort, segfault, bus) happen inside `strike`. */
typedef enum { STRUCK_NOT, STRUCK_FAIL, STRUCK_WRONG, STRUCK_STALE, STRUCK_NAN } Struck;

/* Where a call can be struck. The order is that of the first counters. */
typedef enum { AT_CREATE, AT_PREPARE, AT_INIT, AT_ALLOCATE, AT_INVOKE, AT_DESTROY, POINTS } Point;

typedef enum {
  CREATES,
  PREPARES,
  INITS,
  ALLOCATES,
  INVOKES,
  DESTROYS,
  LIVE_DELEGATES,
  LIVE_KERNELS,
  STRIKES,
  HELD,
  GATE_TIMEOUTS,
  FOREIGN_INVOKES,
  FOREIGN_DESTROYS,
  OVERLAPPING_INVOKES,
  DESTROYED_IN_USE,
  FREED_IN_FLIGHT,
  REFUSALS,
  NEWEST_INSTANCE,
  COUNTERS
} Counter;

/* Which points the library at hand has, as bits 1 << Point. Each library defines it. */
extern const unsigned library_points;

/* Count a call and let every fault armed for it strike. `instance` is the number of the delegate, or of the operator's
 * kernel, counted from 1 in order of creation; 0 where there is none yet. */
Struck strike(Point point, int64_t instance);

void count(Counter counter, int64_t change);

/* The number of the next instance. */
int64_t next_instance(void);

/* Count a use on another thread than `owner`. Returns 1 where instances are bound to their thread, so that it is an
 * error, else 0. */
int foreign(pthread_t owner, Counter counter);

/* Arm by name; NULL, or what is wrong. `nth` counts from 1, the next call. `times` consecutive calls are struck, 0 means
 * every one from there on. `seconds` is how long `slow` lasts, and when a `hang` gives up. `instance` 0 is any. */
EXPORTED const char* racegate_arm(const char* kind, const char* point, int64_t nth, int64_t times, double seconds,
                                  int64_t instance);
EXPORTED void racegate_bind_threads(int bound);

/* One kernel's memory of its last output, and its calls in flight. */
typedef struct {
  float* values;
  size_t size;
} LastOutput;

/* Keep a true output as the last one, and put what `struck` asks for in its place. 0, or -1 without memory. */
int falsify(Struck struck, float* output, size_t size, LastOutput* last);

#endif
