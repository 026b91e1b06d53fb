#!/bin/sh
# Builds the five programs of the fuel tests into programs.json; needs clang and lld. The result is checked in: run this after a change of a source.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
separator='{'
for name in sieve sha256 matmul vm fib; do
  clang --target=wasm32 -O2 -nostdlib -fno-builtin -Wl,--no-entry -Wl,-z,stack-size=65536 -o "$folder/$name.wasm" "$name.c"
  printf '%s\n  "%s": "%s"' "$separator" "$name" "$(base64 -w0 "$folder/$name.wasm")"
  separator=,
done > programs.json
printf '\n}\n' >> programs.json
rm -r "$folder"
