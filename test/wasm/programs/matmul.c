/* Products of two matrices: floating point in three nested loops. */
#define SIZE 256

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

__attribute__((export_name("run"))) double run(unsigned rounds) {
  for (int i = 0; i < SIZE; i++) {
    for (int j = 0; j < SIZE; j++) {
      a[i][j] = i - j;
      b[i][j] = i + j;
    }
  }
  for (unsigned round = 0; round < rounds; round++) {
    for (int i = 0; i < SIZE; i++) {
      for (int j = 0; j < SIZE; j++) {
        double sum = 0;
        for (int k = 0; k < SIZE; k++) sum += a[i][k] * b[k][j];
        c[i][j] = sum;
      }
    }
  }
  return c[17][31];
}
