#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test.sh                builds with and without sanitizers and runs every test
# test.sh --full PART    runs a long part: tsan, valgrind, mutants, explore, wheels, selftest, faults, fuzz
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"

parts='tsan valgrind mutants explore wheels selftest faults fuzz'
usage="usage: scripts/test.sh [--full PART], PART one of: $parts"
part=
case ${1-} in
'') ;;
-h | --help)
  echo "$usage"
  exit 0
  ;;
--full)
  [ $# -eq 2 ] || fail 2 "--full takes one PART; $usage"
  part=$2
  case " $parts " in
  *" $part "*) ;;
  *) fail 2 "there is no part '$part'; $usage" ;;
  esac
  ;;
*) fail 2 "unknown argument '$1'; $usage" ;;
esac

jobs=$(jobs_count)
cd "$root"

# build NAME PRESET [OPTION...]: configures and builds in build/NAME; the tests' names start with NAME.
build() {
  local name=$1 preset=$2
  shift 2
  say "Building $name"
  cmake --preset "$preset" -B "build/$name" "${build_options[@]}" -DKVSLOT_WQSKV=ON -DKVSLOT_NIXL=ON -DKVSLOT_TESTS=ON -DBUILD_TESTING=ON \
    "-DKVSLOT_TEST_PREFIX=$name." "$@" >"build/$name.configure.log" 2>&1 || {
    cat "build/$name.configure.log" >&2
    fail 1 "configuring $name failed"
  }
  grep '^-- kvslot:' "build/$name.configure.log" || true
  cmake --build "build/$name" -j "$jobs"
}

# run NAME...: all tests of these builds in one ctest run, so that its summary, the last thing printed, covers all.
run() {
  local name
  rm -rf build/test
  mkdir -p build/test
  for name in "$@"; do
    if ctest --test-dir "build/$name" -N | grep -q '^Total Tests: 0$'; then
      fail 1 "the build $name has no tests"
    fi
    printf 'subdirs("%s")\n' "$root/build/$name" >>build/test/CTestTestfile.cmake
  done
  say "Testing $*"
  scripts/ctest.sh build/test "$jobs"
}

# NIXL's releases that the bridge is tested with: all, and those of the ordinary run.
wheels='1.0.1 1.1.0 1.2.0 1.3.2 1.4.1 1.5.1'
few_wheels='1.0.1 1.3.2 1.5.1'

# fetch RELEASE...: downloads NIXL's wheels where they are not there yet, before anything else, since CI has a network at the
# start alone. What cannot be had here fails in the test that needs it.
fetch() {
  say "Fetching NIXL $*"
  bash bridge/nixl/wheels/fetch.sh build/wheels python3 "$@" || echo "the tests that need it will fail"
}

mkdir -p build
case $part in
'')
  need "${build_packages[@]}" g++ git "${test_packages[@]}" clang-format python3 python3-pip python3-jsonschema
  # shellcheck disable=SC2046
  fetch $([ -n "${CI-}" ] && echo "$wheels" || echo "$few_wheels")
  build release release "-DKVSLOT_WHEELS=${few_wheels// /;}"
  build asan asan -DKVSLOT_TIMEOUT_MULTIPLIER=3
  run release asan
  ;;
tsan)
  need "${build_packages[@]}" g++ git "${test_packages[@]}"
  build tsan tsan -DKVSLOT_TIMEOUT_MULTIPLIER=5
  run tsan
  ;;
valgrind)
  need "${build_packages[@]}" g++ git "${test_packages[@]}" valgrind
  build valgrind debug -DKVSLOT_TIMEOUT_MULTIPLIER=10 "-DKVSLOT_TEST_WRAPPER=$root/scripts/valgrind.sh"
  run valgrind
  ;;
mutants)
  scripts/mutants.sh --complete
  ;;
explore)
  need "${build_packages[@]}" g++ git "${test_packages[@]}"
  seed=${KVSLOT_EXPLORE_SEED:-$(date +%s)}
  build release release
  build asan asan -DKVSLOT_TIMEOUT_MULTIPLIER=3
  # explore BUILD OPTION...: every scenario, as many at once as there are processors.
  explore() {
    local program=build/$1/tests/explore
    shift
    "$program" --list | sed 's/ .*//' | xargs -P "$jobs" -I{} "$program" --scenario {} "$@" | grep -v '^1 scenarios' |
      awk '{ print; n += $2 } END { printf "%d schedules\n", n }'
  }
  say "Exploring the schedules of up to 2 preemptions"
  explore release --bound 2 --limit 1000000
  say "Exploring at random; again with KVSLOT_EXPLORE_SEED=$seed"
  explore release --random 20000 --seed "$seed"
  explore asan --random 2000 --seed "$seed"
  ;;
selftest)
  need "${build_packages[@]}" g++ git "${test_packages[@]}"
  build release release
  build asan asan -DKVSLOT_TIMEOUT_MULTIPLIER=3
  say "Testing that every case of the conformance suite can fail"
  build/release/bin/kvslot conform --self-test --jobs "$jobs"
  # A crash is to stay a crash, and what a rogue leaks is its own affair.
  ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_abort=0 \
    build/asan/bin/kvslot conform --self-test --jobs "$jobs" --timeout-multiplier 3
  ;;
faults)
  need "${build_packages[@]}" g++ git "${test_packages[@]}"
  build asan asan -DKVSLOT_TIMEOUT_MULTIPLIER=3
  say "Killing processes that write, 200 times"
  KVSLOT_TEST_KILLS=200 ctest --test-dir build/asan -R '^asan\.lmdb\.faults$' --no-tests=error --output-on-failure
  ;;
fuzz)
  need "${build_packages[@]}" clang libclang-rt-dev
  cmake --preset release -B build/release "${build_options[@]}" >build/release.configure.log 2>&1 || {
    cat build/release.configure.log >&2
    fail 1 "configuring release failed"
  }
  cmake --build build/release -j "$jobs" --target kvslot_sdk
  say "Fuzzing the connectors' JSON for a minute"
  bash connector/fuzz/run.sh "$root/build/release" 60
  ;;
wheels)
  need "${build_packages[@]}" g++ git "${test_packages[@]}" python3 python3-pip
  # shellcheck disable=SC2086
  fetch $wheels
  build release release
  say "Testing wheels"
  bash bridge/nixl/wheels/matrix.sh build/wheels python3 "$root/build/release/lib/kvslot/nixl" build/wheels/work "MOCK LMDB WQSKV" "$wheels"
  ;;
esac
