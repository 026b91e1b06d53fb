/** The part of `quickjs.wasm` that is used. A value of the guest is a pointer to a box that holds it; who makes one frees it. */
export interface QuickJsExports {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: { value: number };
  _initialize(): void;
  qjs_init(): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(isOn: number): void;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_set_runtime_and_context(runtime: number, context: number): void;
  qjs_eval(code: number, length: number, fileName: number, flags: number): number;
  qjs_call(callee: number, self: number, count: number, values: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  qjs_is_exception(value: number): number;
  qjs_is_undefined(value: number): number;
  qjs_is_string(value: number): number;
  qjs_get_exception(): number;
  qjs_throw(value: number): number;
  qjs_new_error(): number;
  qjs_new_string(text: number, length: number): number;
  qjs_get_string_len(value: number, length: number): number;
  qjs_free_cstring(text: number): void;
  qjs_new_object(): number;
  qjs_new_uint8_array(bytes: number, length: number): number;
  qjs_get_array_buffer(value: number, length: number): number;
  qjs_is_array_buffer(value: number): number;
  qjs_get_undefined(): number;
  qjs_get_global(): number;
  qjs_set_prop_string(object: number, name: number, value: number): number;
  qjs_define_prop_string(object: number, name: number, value: number, flags: number): number;
  qjs_new_host_function(name: number, length: number, count: number): number;
  qjs_dup_value(value: number): number;
  qjs_free_value(value: number): void;
  wasm_malloc(size: number): number;
  wasm_free(at: number): void;
}
