/* Calls and little else. */
__attribute__((noinline)) static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((export_name("run"))) unsigned run(unsigned n) { return fib(n); }
