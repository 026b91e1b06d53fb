;; Asks in its start function, and in `alloc`.
(module
  (import "keyhole" "call" (func $call (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"kind\":\"fs.read\",\"operation\":\"read\",\"arguments\":{\"path\":\"granted\"}}")
  (global $asked (mut i32) (i32.const 0))
  (func $ask (global.set $asked (i32.add (global.get $asked) (call $call (i32.const 0) (i32.const 68) (i32.const 1024) (i32.const 1024)))))
  (start $ask)
  (func (export "alloc") (param i32) (result i32) (call $ask) (i32.const 4096))
  (func (export "run") (param i32 i32) (result i64) (call $ask)
    (i32.store8 (i32.const 2048) (i32.add (i32.const 48) (i32.div_u (global.get $asked) (i32.const 40))))
    (i64.const 0x80000000001)))
