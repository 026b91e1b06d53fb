;; Sleeps for 30 ms, and exits with the milliseconds that this took by its clock.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $time (i32.const 1) (i64.const 0) (i32.const 200)))
    (i32.store8 (i32.const 8) (i32.const 0))
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 30000000))
    (drop (call $poll (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128)))
    (drop (call $time (i32.const 1) (i64.const 0) (i32.const 208)))
    (call $exit
      (i32.wrap_i64
        (i64.div_u (i64.sub (i64.load (i32.const 208)) (i64.load (i32.const 200))) (i64.const 1000000))))))
