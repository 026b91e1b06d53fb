#!/bin/sh
# Builds the tools of the tests into tools.json; needs clang, lld, wasi-libc, libclang-rt for wasm32, and wabt. The result is checked in: run this after a change of a source.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
include=../../../packages/worker-host/include
clang --target=wasm32-wasi -O2 -s -I "$include" -Wl,-z,stack-size=1048576 -o "$folder/subject.wasm" subject.c
clang --target=wasm32 -O2 -s -nostdlib -fno-builtin -I "$include" -Wl,--no-entry -Wl,-z,stack-size=16384 -o "$folder/plain.wasm" plain.c
for name in catcher signatures starter exits sockets partial sleeper; do wat2wasm --enable-exceptions -o "$folder/$name.wasm" "$name.wat"; done
separator='{'
for name in subject plain catcher signatures starter exits sockets partial sleeper; do
  printf '%s\n  "%s": "%s"' "$separator" "$name" "$(base64 -w0 "$folder/$name.wasm")"
  separator=,
done > "${1:-tools.json}"
printf '\n}\n' >> "${1:-tools.json}"
rm -r "$folder"
