/* The ONNX Runtime operator `racegate.faults.Passthrough`: one float tensor in, the same out, failing as it is told.
 *
 * It is loaded with `SessionOptions.register_custom_ops_library(path)`. The kernel's thread is the one that made the
 * session; the runtime has no step between making a kernel and running it, so that the points `prepare` and `allocate`
 * are not there. */
#include "faults.h"
#include "ort_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const unsigned library_points = 1u << AT_CREATE | 1u << AT_INIT | 1u << AT_INVOKE | 1u << AT_DESTROY;

typedef struct {
  const Api* api;
  int64_t number;
  pthread_t owner;
  LastOutput last;
  int in_flight; /* under `uses` */
} Kernel;

static pthread_mutex_t uses = PTHREAD_MUTEX_INITIALIZER;
static OpDomain* domain; /* under `uses`; lives for ever, since sessions point to it */

static Status* failure(const Api* api, const char* text) { return api->create_status(ORT_FAIL, text); }

static const char* name(const CustomOp* op) {
  (void)op;
  return "Passthrough";
}

static const char* provider(const CustomOp* op) {
  (void)op;
  return NULL; /* the CPU's */
}

static int float_type(const CustomOp* op, size_t index) {
  (void)op, (void)index;
  return ORT_FLOAT;
}

static size_t one(const CustomOp* op) {
  (void)op;
  return 1;
}

static int zero(const CustomOp* op, size_t index) { /* required; default memory */
  (void)op, (void)index;
  return 0;
}

static int first_version(const CustomOp* op) {
  (void)op;
  return 1;
}

static int last_version(const CustomOp* op) {
  (void)op;
  return INT32_MAX;
}

static Status* create_kernel(const CustomOp* op, const Api* api, const KernelInfo* info, void** out) {
  (void)op, (void)info;
  const int64_t number = next_instance();
  if (strike(AT_INIT, number) == STRUCK_FAIL) return failure(api, "racegate: injected: the kernel is not made");
  Kernel* kernel = calloc(1, sizeof(Kernel));
  if (!kernel) return failure(api, "racegate: out of memory");
  kernel->api = api;
  kernel->number = number;
  kernel->owner = pthread_self();
  count(LIVE_KERNELS, 1);
  *out = kernel;
  return NULL;
}

static Status* copy(Kernel* kernel, KernelContext* context, const Shape* shape, const Value* input, Struck struck) {
  const Api* api = kernel->api;
  int64_t dims[16];
  size_t rank = 0, size = 0;
  Value* output = NULL;
  void *from = NULL, *to = NULL;
  Status* status = api->get_dimensions_count(shape, &rank);
  if (status) return status;
  if (rank > 16) return failure(api, "racegate: more than 16 dimensions");
  if ((status = api->get_dimensions(shape, dims, rank))) return status;
  if ((status = api->get_element_count(shape, &size))) return status;
  if ((status = api->kernel_context_get_output(context, 0, dims, rank, &output))) return status;
  if ((status = api->get_tensor_mutable_data((Value*)input, &from))) return status;
  if ((status = api->get_tensor_mutable_data(output, &to))) return status;
  memmove(to, from, size * sizeof(float));
  return falsify(struck, to, size, &kernel->last) ? failure(api, "racegate: out of memory") : NULL;
}

static Status* run(Kernel* kernel, KernelContext* context, Struck struck) {
  const Value* input = NULL;
  Shape* shape = NULL;
  Status* status = kernel->api->kernel_context_get_input(context, 0, &input);
  if (!status) status = kernel->api->get_tensor_type_and_shape(input, &shape);
  if (status) return status;
  status = copy(kernel, context, shape, input, struck);
  kernel->api->release_shape(shape);
  return status;
}

static Status* compute(void* op_kernel, KernelContext* context) {
  Kernel* kernel = op_kernel;
  pthread_mutex_lock(&uses);
  const int others = kernel->in_flight++;
  pthread_mutex_unlock(&uses);
  if (others) count(OVERLAPPING_INVOKES, 1);
  const int elsewhere = foreign(kernel->owner, FOREIGN_INVOKES);
  const Struck struck = strike(AT_INVOKE, kernel->number);
  Status* status;
  if (elsewhere)
    status = failure(kernel->api, "racegate: injected: run on another thread than the session was made on");
  else if (struck == STRUCK_FAIL)
    status = failure(kernel->api, "racegate: injected: the run failed");
  else
    status = run(kernel, context, struck);
  pthread_mutex_lock(&uses);
  kernel->in_flight -= 1;
  pthread_mutex_unlock(&uses);
  return status;
}

static void destroy_kernel(void* op_kernel) {
  Kernel* kernel = op_kernel;
  foreign(kernel->owner, FOREIGN_DESTROYS);
  strike(AT_DESTROY, kernel->number);
  pthread_mutex_lock(&uses);
  const int flying = kernel->in_flight > 0;
  pthread_mutex_unlock(&uses);
  count(LIVE_KERNELS, -1);
  if (flying) {
    count(FREED_IN_FLIGHT, 1); /* left to leak: a call still uses it */
    return;
  }
  free(kernel->last.values);
  free(kernel);
}

static const CustomOp passthrough = {.version = API_VERSION,
                                     .get_name = name,
                                     .get_execution_provider = provider,
                                     .get_input_type = float_type,
                                     .get_input_count = one,
                                     .get_output_type = float_type,
                                     .get_output_count = one,
                                     .kernel_destroy = destroy_kernel,
                                     .get_input_characteristic = zero,
                                     .get_output_characteristic = zero,
                                     .get_input_memory = zero,
                                     .create_kernel_v2 = create_kernel,
                                     .kernel_compute_v2 = compute,
                                     .get_start_version = first_version,
                                     .get_end_version = last_version};

static Status* registered(SessionOptions* options, const Api* api) {
  Status* status = NULL;
  pthread_mutex_lock(&uses);
  if (!domain) {
    status = api->create_custom_op_domain("racegate.faults", &domain);
    if (!status) status = api->custom_op_domain_add(domain, &passthrough);
  }
  if (!status) status = api->add_custom_op_domain(options, domain);
  pthread_mutex_unlock(&uses);
  return status;
}

EXPORTED Status* RegisterCustomOps(SessionOptions* options, const ApiBase* base) {
  const Api* api = base->get_api(API_VERSION);
  if (!api) {
    char text[128];
    snprintf(text, sizeof(text), "racegate faults: refused: ONNX Runtime %s has no API version %d",
             base->get_version_string(), API_VERSION);
    count(REFUSALS, 1);
    return failure(base->get_api(1), text);
  }
  if (strike(AT_CREATE, 0) == STRUCK_FAIL) return failure(api, "racegate: injected: the operators do not register");
  return registered(options, api);
}

/* The runtime with which the layout was measured; others are accepted by their API version. */
EXPORTED const char* racegate_verified(void) { return "onnxruntime 1.32.0"; }
