;; Imports with signatures that no host has.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param externref f64 i64 f32) (result f64)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i64 i64) (result i32)))
  (import "keyhole" "call" (func $call (param f64 f64) (result i64)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $write (ref.null extern) (f64.const nan) (i64.const -1) (f32.const inf)))
    (drop (call $random (i64.const 0) (i64.const -1)))
    (drop (call $call (f64.const 1e300) (f64.const -1)))))
