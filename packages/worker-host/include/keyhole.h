/*
 * The one function of a Keyhole host that a tool in C calls, beside those of WASI.
 *
 *   #include "keyhole.h"
 *
 *   size_t length;
 *   char *reply = keyhole_request(
 *       "{\"kind\":\"net.read\",\"operation\":\"fetch\",\"reply\":\"text\","
 *       "\"arguments\":{\"url\":\"https://example.com/\",\"method\":\"GET\",\"headers\":[]}}", &length);
 *   // {"ok":true,"value":{"status":200,...},"text":"..."} or {"ok":false,"error":{"code":"CAPABILITY_DENIED",...}}
 *   free(reply);
 */
#ifndef KEYHOLE_H
#define KEYHOLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sends a request, which is JSON. Returns how many bytes its reply has, and writes them to `out` if there is room for all. If there is not, the number is negative and
 * nothing is written; a call with an empty request then gives the same reply, without asking again.
 */
__attribute__((import_module("keyhole"), import_name("call"))) int32_t
keyhole_call(const char *request, uint32_t request_length, char *out, uint32_t out_capacity);

#ifndef KEYHOLE_WITHOUT_LIBC
#include <stdlib.h>
#include <string.h>

/* The reply as a text that ends in a zero, to be freed; NULL when there is no memory. */
static inline char *keyhole_request(const char *request, size_t *length) {
  size_t capacity = 4096;
  char *reply = malloc(capacity);
  if (reply == NULL) return NULL;
  int32_t size = keyhole_call(request, (uint32_t)strlen(request), reply, (uint32_t)capacity - 1);
  if (size < 0) {
    free(reply);
    capacity = (size_t)-size + 1;
    reply = malloc(capacity);
    if (reply == NULL) return NULL;
    size = keyhole_call(request, 0, reply, (uint32_t)capacity - 1);
  }
  reply[size] = 0;
  if (length != NULL) *length = (size_t)size;
  return reply;
}
#endif

#endif
