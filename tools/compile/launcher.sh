#!/bin/sh
# @PROGRAM@ @VERSION@: a self-extracting executable. This script unpacks the program and its runtime, which follow it in
# this file, once into the user's cache folder, verifies them by hash and runs them. Format: tools/compile/launcher.ts.
set -u
# What is unpacked is the user's alone; what the program makes follows the user's own mask.
own_mask=$(umask)
umask 077
self=$0
case $self in
  */*) ;;
  *) [ -f "$self" ] || self=$(command -v -- "$self") || self=$0 ;;
esac

sha256() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else shasum -a 256; fi; }

sha256_of() { set -- $(sha256 <"$1"); printf '%s' "${1:-}"; }

# pour OFFSET LENGTH FILE COMMAND…: runs the command, its input these bytes. They come from this shell in pieces, and
# from nowhere else: when it is killed, what it has started meets the end of its input and ends, too.
pour() {
  from=$1 left=$2 file=$3
  shift 3
  mkfifo "$scratch/feed" || return 1
  exec 3<>"$scratch/feed"
  (
    exec <"$scratch/feed" 3>&-
    "$@"
  ) &
  exec 4<"$file" 5>"$scratch/feed" 3>&-
  [ "$from" = 0 ] || dd bs="$from" count=1 <&4 >/dev/null 2>&1
  while [ "$left" -gt 0 ]; do
    piece=$left
    [ "$piece" -le 4194304 ] || piece=4194304
    dd bs="$piece" count=1 <&4 >&5 2>/dev/null || break
    left=$((left - piece))
  done
  exec 4<&- 5>&-
  wait $!
  set -- $?
  rm -f "$scratch/feed"
  return "$1"
}

# Hashes a large file into $hash.
hash_large() {
  hash=
  if make_scratch; then
    pour 0 "$(($(wc -c <"$1")))" "$1" sha256 >"$scratch/hash" && read -r hash rest <"$scratch/hash"
  else hash=$(sha256_of "$1"); fi
}

# Folders that a killed start has left are removed by the next one that unpacks.
make_scratch() {
  [ -z "$scratch" ] || return 0
  find "$folder" -maxdepth 1 -name 'unpack.*' -mmin +10 -exec rm -rf {} + 2>/dev/null
  scratch=$(mktemp -d "$folder/unpack.XXXXXX" 2>/dev/null) || return 1
  trap 'rm -rf "$scratch"; exit 130' HUP INT TERM
}

extract() { gzip -dc | tee "$scratch/$part" | sha256 >"$scratch/hash"; }

# Size, time of change and inode: what changes when a file does.
state_of() { stat -c '%s %Y %i' "$1" 2>/dev/null || stat -f '%z %m %i' "$1" 2>/dev/null; }

is_program_whole() { [ -f "$program" ] && [ "$(sha256_of "$program")" = @PROGRAM_SHA256@ ]; }

# is_large_whole FILE SHA256: the hash of a large file is taken again only when it is not the file that was recorded.
is_large_whole() {
  [ -f "$1" ] || return 1
  state=$(state_of "$1") || return 1
  recorded=
  if [ -f "$1.verified" ]; then read -r recorded <"$1.verified"; fi
  [ "$recorded" = "$2 $state" ] && return 0
  hash_large "$1"
  [ "$hash" = "$2" ] || return 1
  record "$1" "$2"
}

is_runtime_whole() { [ -x "$runtime" ] && is_large_whole "$runtime" @RUNTIME_SHA256@; }

# What the program reads: none where its length is 0.
is_data_whole() { [ @DATA_PACKED@ = 0 ] || is_large_whole "$data" @DATA_SHA256@; }

# A record that cannot be written costs a hash at the next start and nothing else.
record() {
  { printf '%s\n' "$2 $(state_of "$1")" >"$1.verified.$$" && mv -f "$1.verified.$$" "$1.verified"; } 2>/dev/null
  return 0
}

# unpack NAME OFFSET LENGTH SHA256 TARGET
unpack() {
  part=$1 hash=
  pour "$(($2 - 1))" "$3" "$self" extract 2>"$scratch/error"
  [ ! -s "$scratch/error" ] || {
    reason=$(head -n 1 "$scratch/error")
    reason="cannot unpack the $1 (${reason:-the disk may be full})"
    return 1
  }
  read -r hash rest <"$scratch/hash"
  [ "$hash" = "$4" ] || {
    reason="the unpacked $1 does not have the recorded hash; the disk may be full, or $self is damaged"
    return 1
  }
  chmod 700 "$scratch/$1"
  if [ "$1" = runtime ] && ! "$scratch/runtime" --version >/dev/null 2>"$scratch/error"; then
    reason="cannot run a program from there ($(head -n 1 "$scratch/error"))"
    return 1
  fi
  mkdir -p "${5%/*}" && mv -f "$scratch/$1" "$5" || { reason="cannot write there"; return 1; }
}

unpack_missing() {
  make_scratch || { reason="cannot write there"; return 1; }
  is_program_whole ||
    unpack program @PROGRAM_OFFSET@ @PROGRAM_PACKED@ @PROGRAM_SHA256@ "$program" || return 1
  is_data_whole || {
    unpack data @DATA_OFFSET@ @DATA_PACKED@ @DATA_SHA256@ "$data" && record "$data" @DATA_SHA256@
  } || return 1
  is_runtime_whole && return 0
  printf '%s: unpacking into %s; the next start is faster\n' @PROGRAM@ "$folder" >&2
  unpack runtime @RUNTIME_OFFSET@ @RUNTIME_PACKED@ @RUNTIME_SHA256@ "$runtime" && record "$runtime" @RUNTIME_SHA256@
}

# Makes both parts ready below one folder, or says in $reason why it cannot.
prepare() {
  folder=$1
  program=$folder/@PROGRAM_SHA256@/@PROGRAM@.js
  data=$folder/@PROGRAM_SHA256@/@PROGRAM@.data
  runtime=$folder/@RUNTIME_SHA256@/deno
  { [ -d "$folder" ] || mkdir -p "$folder"; } 2>/dev/null || { reason="cannot make this folder"; return 1; }
  [ ! -L "$folder" ] || { reason="it is a symbolic link"; return 1; }
  if [ -O "$folder" ]; then chmod 700 "$folder" 2>/dev/null
  elif [ "$(stat -c %u "$folder" 2>/dev/null)" != 0 ]; then reason="it belongs to another user"; return 1; fi
  is_program_whole && is_data_whole && is_runtime_whole || unpack_missing
  set -- $?
  [ -z "$scratch" ] || { rm -rf "$scratch"; scratch=; trap - HUP INT TERM; }
  return "$1"
}

refused= scratch=
try() {
  prepare "$1" || { refused="$refused
  $1: $reason"; return 1; }
  [ -z "$refused" ] ||
    printf '%s: running from %s, because this did not work:%s\n' @PROGRAM@ "$1" "$refused" >&2
}

case ${XDG_CACHE_HOME:-} in
  /*) cache=$XDG_CACHE_HOME/db ;;
  *) case ${HOME:-} in /*) cache=$HOME/.cache/db ;; *) cache= ;; esac ;;
esac
{ [ -n "$cache" ] && try "$cache"; } || try "${TMPDIR:-/tmp}/db-$(id -u)" || {
  printf '%s: cannot unpack; set XDG_CACHE_HOME to a folder that can be written:%s\n' @PROGRAM@ "$refused" >&2
  exit 1
}
export DENO_DIR="${DENO_DIR:-$folder/deno}" DENO_NO_UPDATE_CHECK=1
umask "$own_mask"
exec "$runtime" run -A @FLAGS@--quiet --no-config --no-lock --no-remote --cached-only --node-modules-dir=none "$program" "$@"
