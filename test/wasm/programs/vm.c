/* A virtual machine with sixteen instructions: one large switch in a loop. */
static int stack[64], memory[8];

__attribute__((export_name("run"))) unsigned run(unsigned programs) {
  unsigned long long sum = 0;
  unsigned seed = 1;
  for (unsigned program = 0; program < programs; program++) {
    unsigned x = seed = seed * 1103515245u + 12345u;
    unsigned top = 0;
    for (int step = 0; step < 64; step++) {
      int *slot = &stack[top & 63];
      switch ((x >> (step & 15)) & 15) {
        case 0: *slot = (int)x; top++; break;
        case 1: if (top) top--; sum += (unsigned)*slot; break;
        case 2: *slot += 3; break;
        case 3: memory[x & 7] += *slot; break;
        case 4: if (memory[x & 7] & 1) sum ^= 0x55; break;
        case 5: x = x * 3 + 1; break;
        case 6: x >>= 1; break;
        case 7: sum += x; break;
        case 8: top = top > 2 ? top - 2 : 0; break;
        case 9: *slot = memory[(x >> 3) & 7]; break;
        case 10: sum = sum << 1 | sum >> 63; break;
        case 11: for (int i = 0; i < 3; i++) memory[i] ^= (int)x; break;
        case 12: if (x & 2) x ^= 0x1234; else sum--; break;
        case 13: stack[(top + 1) & 63] -= (int)x; break;
        case 14: sum += (unsigned)step; break;
        default: x += (unsigned)sum;
      }
    }
  }
  return (unsigned)sum;
}
