/* The part of TensorFlow Lite's C ABI that an external delegate meets, declared from its documentation (the classic
 * delegate interface of `common.h`, without TF_LITE_STATIC_MEMORY). The layout is checked twice: here by size, and at run
 * time against the graph, before anything is written. */
#ifndef RACEGATE_TFLITE_ABI_H
#define RACEGATE_TFLITE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { kOk = 0, kError = 1 };
enum { kFloat32 = 1 };
enum { kDynamic = 4 };
enum { kAdd = 0, kFullyConnected = 9, kMul = 18 };

typedef struct {
  int size;
  int data[];
} IntArray;

typedef struct Delegate Delegate;
typedef struct Context Context;

typedef struct {
  int type;
  void* data;
  IntArray* dims;
  struct {
    float scale;
    int32_t zero_point;
  } params;
  int allocation_type;
  size_t bytes;
  const void* allocation;
  const char* name;
  Delegate* delegate;
  int buffer_handle;
  bool data_is_stale;
  bool is_variable;
  struct {
    int type;
    void* params;
  } quantization;
  void* sparsity;
  const IntArray* dims_signature;
} Tensor;

typedef struct {
  IntArray* inputs;
  IntArray* outputs;
  IntArray* intermediates;
  IntArray* temporaries;
  void* user_data;
  void* builtin_data;
  const void* custom_initial_data;
  int custom_initial_data_size;
  Delegate* delegate;
  bool might_have_side_effect;
} Node;

/* Passed by value: a runtime whose own struct is shorter does not look at the end, one whose is longer reads zeros. */
typedef struct {
  void* (*init)(Context* context, const char* buffer, size_t length);
  void (*free)(Context* context, void* buffer);
  int (*prepare)(Context* context, Node* node);
  int (*invoke)(Context* context, Node* node);
  const char* (*profiling_string)(const Context* context, const Node* node);
  int32_t builtin_code;
  const char* custom_name;
  int version;
  void* registration_external;
  void* async_kernel;
  uint64_t inplace_operator;
  void* reserve[4];
} Registration;

typedef struct {
  Delegate* delegate;
  IntArray* nodes_to_replace;
  IntArray* input_tensors;
  IntArray* output_tensors;
} DelegateParams;

struct Context { /* the beginning alone: the runtime makes it */
  size_t tensors_size;
  int (*get_execution_plan)(Context* context, IntArray** execution_plan);
  Tensor* tensors;
  void* impl;
  int (*resize_tensor)(Context* context, Tensor* tensor, IntArray* size);
  void (*report_error)(Context* context, const char* format, ...);
  int (*add_tensors)(Context* context, int count, int* first);
  int (*get_node_and_registration)(Context* context, int index, Node** node, Registration** registration);
  int (*replace_nodes)(Context* context, Registration registration, const IntArray* nodes, Delegate* delegate);
  int recommended_num_threads;
};

struct Delegate {
  void* data;
  int (*prepare)(Context* context, Delegate* delegate);
  void* copy_from_buffer_handle;
  void* copy_to_buffer_handle;
  void* free_buffer_handle;
  int64_t flags;
  void* opaque_delegate_builder;
  void* reserve[4];
};

_Static_assert(sizeof(void*) == 8, "the layout is declared for 64 bits");
_Static_assert(sizeof(Tensor) == 112, "TfLiteTensor");
_Static_assert(offsetof(Delegate, reserve) == 56, "TfLiteDelegate");
_Static_assert(offsetof(Registration, reserve) == 88, "TfLiteRegistration");

#endif
