/* The part of ONNX Runtime's C API that a custom operator needs. `OrtApi` only ever grows at its end, so that an entry
 * keeps its place for good; the places below are those of version 1, which the runtime itself asserts (the last of them
 * is number 101). `OrtCustomOp` says in `version` up to where it was filled in. */
#ifndef RACEGATE_ORT_ABI_H
#define RACEGATE_ORT_ABI_H

#include <stddef.h>
#include <stdint.h>

/* What `OrtCustomOp` is declared for: that of ONNX Runtime 1.22, the oldest that racegate supports. */
enum { API_VERSION = 22 };
enum { ORT_FAIL = 1, ORT_FLOAT = 1 };

typedef struct Status Status;
typedef struct SessionOptions SessionOptions;
typedef struct OpDomain OpDomain;
typedef struct Value Value;
typedef struct Shape Shape;
typedef struct KernelInfo KernelInfo;
typedef struct KernelContext KernelContext;
typedef struct CustomOp CustomOp;

typedef struct {
  Status* (*create_status)(int code, const char* message); /* 0 */
  void* from_1_to_25[25];
  Status* (*create_custom_op_domain)(const char* domain, OpDomain** out);              /* 26 */
  Status* (*custom_op_domain_add)(OpDomain* domain, const CustomOp* op);               /* 27 */
  Status* (*add_custom_op_domain)(SessionOptions* options, OpDomain* domain);          /* 28 */
  void* from_29_to_50[22];
  Status* (*get_tensor_mutable_data)(Value* value, void** out);                        /* 51 */
  void* from_52_to_60[9];
  Status* (*get_dimensions_count)(const Shape* shape, size_t* out);                    /* 61 */
  Status* (*get_dimensions)(const Shape* shape, int64_t* out, size_t size);            /* 62 */
  void* number_63;
  Status* (*get_element_count)(const Shape* shape, size_t* out);                       /* 64 */
  Status* (*get_tensor_type_and_shape)(const Value* value, Shape** out);               /* 65 */
  void* from_66_to_89[24];
  Status* (*kernel_context_get_input)(const KernelContext*, size_t index, const Value** out); /* 90 */
  Status* (*kernel_context_get_output)(KernelContext*, size_t index, const int64_t* dims, size_t count,
                                       Value** out);                                   /* 91 */
  void* from_92_to_98[7];
  void (*release_shape)(Shape* shape);                                                 /* 99 */
} Api;

typedef struct {
  const Api* (*get_api)(uint32_t version);
  const char* (*get_version_string)(void);
} ApiBase;

struct CustomOp {
  uint32_t version;
  void* create_kernel; /* replaced by `create_kernel_v2`, which can report an error */
  const char* (*get_name)(const CustomOp*);
  const char* (*get_execution_provider)(const CustomOp*);
  int (*get_input_type)(const CustomOp*, size_t index);
  size_t (*get_input_count)(const CustomOp*);
  int (*get_output_type)(const CustomOp*, size_t index);
  size_t (*get_output_count)(const CustomOp*);
  void* kernel_compute; /* replaced by `kernel_compute_v2` */
  void (*kernel_destroy)(void* kernel);
  int (*get_input_characteristic)(const CustomOp*, size_t index);
  int (*get_output_characteristic)(const CustomOp*, size_t index);
  int (*get_input_memory)(const CustomOp*, size_t index);
  void* variadic[4];
  Status* (*create_kernel_v2)(const CustomOp*, const Api* api, const KernelInfo* info, void** kernel);
  Status* (*kernel_compute_v2)(void* kernel, KernelContext* context);
  void* infer_output_shape;
  int (*get_start_version)(const CustomOp*);
  int (*get_end_version)(const CustomOp*);
  void* in_place_and_alias[4];
};

_Static_assert(sizeof(void*) == 8, "the layout is declared for 64 bits");
_Static_assert(offsetof(Api, create_custom_op_domain) / sizeof(void*) == 26, "CreateCustomOpDomain");
_Static_assert(offsetof(Api, get_tensor_mutable_data) / sizeof(void*) == 51, "GetTensorMutableData");
_Static_assert(offsetof(Api, get_dimensions_count) / sizeof(void*) == 61, "GetDimensionsCount");
_Static_assert(offsetof(Api, get_tensor_type_and_shape) / sizeof(void*) == 65, "GetTensorTypeAndShape");
_Static_assert(offsetof(Api, kernel_context_get_input) / sizeof(void*) == 90, "KernelContext_GetInput");
_Static_assert(offsetof(Api, release_shape) / sizeof(void*) == 99, "ReleaseTensorTypeAndShapeInfo");
_Static_assert(offsetof(CustomOp, create_kernel_v2) / sizeof(void*) == 17, "CreateKernelV2");

#endif
