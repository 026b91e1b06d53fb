/*
 * Counts the primes below a number: {"limit": 100} on the standard input, {"count": 25, "last": 97} on the standard output.
 *
 *   clang --target=wasm32-wasi -O2 -s -Wl,-z,stack-size=65536 -o primes.wasm primes.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char input[256];
  size_t size = fread(input, 1, sizeof input - 1, stdin);
  input[size] = 0;
  const char *given = strstr(input, "\"limit\":");
  long limit = given == NULL ? 0 : strtol(given + strlen("\"limit\":"), NULL, 10);
  if (limit < 2) {
    fputs("limit is a number from 2\n", stderr);
    return 1;
  }
  char *composite = calloc((size_t)limit, 1);
  if (composite == NULL) {
    fputs("there is not enough memory\n", stderr);
    return 1;
  }
  long count = 0;
  long last = 0;
  for (long n = 2; n < limit; n++) {
    if (composite[n]) continue;
    count++;
    last = n;
    for (long multiple = n * 2; multiple < limit; multiple += n) composite[multiple] = 1;
  }
  fprintf(stderr, "looked at %ld numbers\n", limit);
  printf("{\"count\":%ld,\"last\":%ld}", count, last);
  return 0;
}
