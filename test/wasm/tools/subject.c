/* A WASI command that does what it is told: {"deed": "...", "value": "..."} on its standard input, the result on its standard output. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "keyhole.h"

static char input[1 << 20];
static char value[1 << 16];

static void text_of(const char *key, char *to, size_t room) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "\"%s\":\"", key);
  const char *from = strstr(input, wanted);
  size_t length = 0;
  if (from != NULL)
    for (from += strlen(wanted); *from != 0 && *from != '"' && length + 1 < room; from++) {
      if (*from == '\\') from++;
      to[length++] = *from;
    }
  to[length] = 0;
}

static int fails(const char *what) {
  printf("{\"failed\":\"%s\",\"errno\":%d}", what, errno);
  return 0;
}

static volatile int sink;

/* Locals whose addresses leave keep the compiler from making a loop of it. */
static int recurse(int depth) {
  volatile int here[8];
  here[depth & 7] = depth;
  sink += here[(depth + 1) & 7];
  return depth == 0 ? 0 : recurse(depth - 1) + here[depth & 7];
}

static int read_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return fails("open");
  char line[256];
  size_t size = fread(line, 1, sizeof line - 1, file);
  line[size] = 0;
  fclose(file);
  printf("{\"read\":\"%s\"}", line);
  return 0;
}

static int write_file(const char *path, const char *mode, int closes) {
  FILE *file = fopen(path, mode);
  if (file == NULL) return fails("open");
  fputs("written by a tool", file);
  if (closes && fclose(file) != 0) return fails("close");
  if (!closes) fflush(file);
  printf("{\"written\":\"%s\"}", path);
  return 0;
}

static int list(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) return fails("open");
  printf("[");
  int count = 0;
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
    printf("%s\"%s%s\"", count++ ? "," : "", entry->d_name, entry->d_type == DT_DIR ? "/" : "");
  printf("]");
  closedir(folder);
  return 0;
}

static int status(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0) return fails("stat");
  printf("{\"size\":%lld,\"folder\":%d}", (long long)found.st_size, S_ISDIR(found.st_mode));
  return 0;
}

static int clock_deed(void) {
  struct timespec before, after, pause = {3600, 0};
  clock_gettime(CLOCK_REALTIME, &before);
  nanosleep(&pause, NULL);
  clock_gettime(CLOCK_REALTIME, &after);
  printf("{\"at\":%lld,\"slept\":%lld}", (long long)before.tv_sec, (long long)(after.tv_sec - before.tv_sec));
  return 0;
}

static int random_deed(void) {
  unsigned char bytes[16];
  getentropy(bytes, sizeof bytes);
  printf("\"");
  for (size_t i = 0; i < sizeof bytes; i++) printf("%02x", bytes[i]);
  printf("\"");
  return 0;
}

/* One request for each line of the value. */
static int requests(void) {
  printf("[");
  int count = 0;
  for (char *line = strtok(value, "|"); line != NULL; line = strtok(NULL, "|")) {
    char request[2048];
    snprintf(request, sizeof request,
             "{\"kind\":\"fs.read\",\"operation\":\"read\",\"arguments\":{\"path\":\"%s\"},\"reply\":\"text\"}", line);
    char *reply = keyhole_request(request, NULL);
    fprintf(stderr, "asked for %s\n", line);
    printf("%s%s", count++ ? "," : "", reply);
    free(reply);
  }
  printf("]");
  return 0;
}

int main(int argc, char **argv) {
  size_t size = fread(input, 1, sizeof input - 1, stdin);
  input[size] = 0;
  char deed[64];
  text_of("deed", deed, sizeof deed);
  text_of("value", value, sizeof value);
#define IS(name) (strcmp(deed, name) == 0)
  if (IS("echo")) return fwrite(input, 1, size, stdout) == size ? 0 : 1;
  if (IS("arguments")) {
    const char *home = getenv("PLACE");
    printf("{\"argc\":%d,\"first\":\"%s\",\"last\":\"%s\",\"place\":\"%s\"}", argc, argv[0], argv[argc - 1], home ? home : "");
    return 0;
  }
  if (IS("exit")) {
    fprintf(stderr, "a first line\nthere is no such thing as %s\n", value);
    return 3;
  }
  if (IS("trap")) __builtin_trap();
  if (IS("abort")) {
    fputs("about to abort\n", stderr);
    abort();
  }
  if (IS("outside")) return *(volatile int *)0x7ffffff0;
  if (IS("loop")) for (;;) sink++;
  if (IS("recurse")) return printf("%d", recurse(atoi(value))) < 0;
  if (IS("recurse forever")) return recurse(1 << 30) == -1;
  if (IS("hoard")) {
    for (;;) {
      char *volatile more = malloc(1 << 20);
      if (more == NULL) {
        fputs("no more memory\n", stderr);
        return 1;
      }
      more[0] = 1;
      sink += more[0];
    }
  }
  if (IS("flood")) for (;;) fwrite(input, 1, sizeof input, stdout);
  if (IS("chatter")) {
    for (int i = 0; i < 5000; i++) fprintf(stderr, "line %d\n", i);
    printf("null");
    return 0;
  }
  if (IS("bytes")) return fwrite("\xff\xfe\x00\x01", 1, 4, stdout) == 4 ? 0 : 1;
  if (IS("no json")) return printf("{\"unfinished\":") < 0;
  if (IS("read")) return read_file(value);
  if (IS("write")) return write_file(value, "w", 1);
  if (IS("append")) return write_file(value, "a", 1);
  if (IS("write and leave open")) return write_file(value, "w", 0);
  if (IS("list")) return list(value);
  if (IS("stat")) return status(value);
  if (IS("remove")) return unlink(value) == 0 ? printf("true") < 0 : fails("remove");
  if (IS("rename")) return rename(value, "elsewhere") == 0 ? printf("true") < 0 : fails("rename");
  if (IS("need")) {
    FILE *file = fopen(value, "r");
    if (file == NULL) {
      perror(value);
      return 1;
    }
    printf("true");
    return 0;
  }
  if (IS("far")) {
    int file = open(value, O_RDWR | O_CREAT, 0600);
    if (file < 0) return fails("open");
    return pwrite(file, "x", 1, (off_t)1 << 50) == 1 ? printf("true") < 0 : fails("write");
  }
  if (IS("clock")) return clock_deed();
  if (IS("random")) return random_deed();
  if (IS("request")) return requests();
  if (IS("ask")) {
    char *reply = keyhole_request(value, NULL);
    fputs(reply, stdout);
    return 0;
  }
  fprintf(stderr, "there is no deed %s\n", deed);
  return 2;
}
