/* A module without WASI: `alloc` and `run`. */
#define KEYHOLE_WITHOUT_LIBC
#include "keyhole.h"

static char heap[1 << 16];
static uint32_t used;

__attribute__((export_name("alloc"))) char *alloc(uint32_t size) {
  char *at = heap + used;
  used += size;
  return used > sizeof heap ? (char *)-1 : at;
}

static uint64_t output(const char *at, uint32_t size) { return (uint64_t)(uint32_t)at << 32 | size; }

static int starts_with(const char *text, uint32_t size, const char *prefix) {
  uint32_t i = 0;
  for (; prefix[i] != 0; i++)
    if (i >= size || text[i] != prefix[i]) return 0;
  return 1;
}

__attribute__((export_name("run"))) uint64_t run(const char *input, uint32_t size) {
  static const char request[] = "{\"kind\":\"fs.read\",\"operation\":\"read\",\"arguments\":{\"path\":\"granted\"}}";
  static char reply[4096];
  static const char failure[] = "the input is not to my liking";
  static uint32_t calls;
  calls++;
  if (starts_with(input, size, "{\"deed\":\"fail\"")) return output(failure, (sizeof failure - 1) | 0x80000000u);
  if (starts_with(input, size, "{\"deed\":\"request\""))
    return output(reply, (uint32_t)keyhole_call(request, sizeof request - 1, reply, sizeof reply));
  if (starts_with(input, size, "{\"deed\":\"outside\"")) return output((char *)0x7ffffff0, 100);
  if (starts_with(input, size, "{\"deed\":\"call outside\"")) return (uint64_t)keyhole_call((char *)0x7ffffff0, 100, reply, 1);
  if (starts_with(input, size, "{\"deed\":\"remember\"")) {
    reply[0] = (char)('0' + calls);
    return output(reply, 1);
  }
  return output(input, size);
}
