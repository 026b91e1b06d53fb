;; Exits with the number that the first four bytes of its standard input are.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 20) (i32.const 4))
    (drop (call $read (i32.const 0) (i32.const 16) (i32.const 1) (i32.const 32)))
    (call $exit (i32.load (i32.const 0)))))
