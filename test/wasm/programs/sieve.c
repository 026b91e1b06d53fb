/* Primes up to n: short loops over bytes. */
#define MAX 5000000

static unsigned char composite[MAX + 1];

__attribute__((export_name("run"))) unsigned run(unsigned n) {
  unsigned count = 0;
  if (n > MAX) __builtin_trap();
  for (unsigned i = 0; i <= n; i++) composite[i] = 0;
  for (unsigned i = 2; i * i <= n; i++) {
    if (composite[i]) continue;
    for (unsigned j = i * i; j <= n; j += i) composite[j] = 1;
  }
  for (unsigned i = 2; i <= n; i++) count += !composite[i];
  return count;
}
