/** workerd has it, and its declarations lack it. */
declare namespace WebAssembly {
  function compile(bytes: BufferSource): Promise<Module>;
}
