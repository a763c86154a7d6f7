# Sourced by the scripts of this folder: where things are, how a preset is configured and built, and
# what the environment of MPI and sanitizer runs must be.
# shellcheck shell=bash

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# Debian's own interpreter: the one that has the packages which tools/setup installs. Another
# python3 may come first in PATH (pyenv, conda) and lack them.
python="${AUTOPHI_PYTHON:-/usr/bin/python3}"

say() { printf '[%s] %s\n' "$(basename "$0")" "$*"; }

die() {
  printf '[%s] error: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the comment that opens the calling script: its help text.
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0"; }

build_dir() {
  case "$1" in
    release) echo "$root/build" ;;
    debug | asan | tsan | fuzz) echo "$root/build/$1" ;;
    *) die "unknown preset '$1'; known: release, debug, asan, tsan, fuzz" ;;
  esac
}

# is_configured DIR -DNAME=VALUE...: DIR has a build, configured with these values and the presets of today.
is_configured() {
  local dir="$1" option name
  shift
  [ -f "$dir/build.ninja" ] && [ "$dir/build.ninja" -nt "$root/CMakePresets.json" ] || return 1
  for option in "$@"; do
    name="${option#-D}"
    grep -q "^${name%%=*}:[A-Z]*=${name#*=}\$" "$dir/CMakeCache.txt" || return 1
  done
}

# configure PRESET [-DNAME=VALUE...]. Nothing where it is configured so already: Ninja sees to what changes.
# A first build takes sources in batches (AUTOPHI_UNITY); a folder that is there stays as it is.
configure() {
  local preset="$1" dir options=()
  shift
  dir="$(build_dir "$preset")"
  options=("-DPython3_EXECUTABLE=$python" "$@")
  if is_configured "$dir" "${options[@]}"; then return; fi
  if [ "$preset" = release ] && [ ! -f "$dir/CMakeCache.txt" ]; then options+=(-DAUTOPHI_UNITY=ON); fi
  say "configure: preset $preset in ${dir#"$root"/}"
  (cd "$root" && cmake --preset "$preset" "${options[@]}" --log-level=WARNING)
}

# build PRESET [TARGET...]: all targets if none is named. AUTOPHI_JOBS limits the number of compilers at once.
build() {
  local preset="$1" dir
  shift
  dir="$(build_dir "$preset")"
  say "build: ${*:-everything}"
  "$python" "$root/tools/build_progress.py" "$dir" "--jobs=${AUTOPHI_JOBS:-$(nproc)}" "$@"
}

# configure_and_build PRESET [-DNAME=VALUE...] [TARGET...]
configure_and_build() {
  local preset="$1" options=()
  shift
  while [[ "${1:-}" == -D* ]]; do
    options+=("$1")
    shift
  done
  configure "$preset" ${options[@]+"${options[@]}"}
  build "$preset" "$@"
}

# More ranks than cores, perhaps as root, perhaps in a container: settings under which Open MPI
# runs there. Exported, so that the mpirun calls of tests see them too.
mpi_environment() {
  export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
  export OMPI_MCA_rmaps_base_oversubscribe=1
  # Unbound ranks that yield while they wait: else 8 ranks on 2 cores spin in each other's way.
  export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  if [ "$(id -u)" -eq 0 ]; then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

# Without halt_on_error undefined behaviour is printed and the test passes all the same. Leaks are
# looked for in all but the processes of mpirun: Open MPI leaks from plug-ins that it unloads, and
# then no suppression can name them.
sanitizer_environment() {
  # A test asks for more memory than there is and wants to be told so.
  export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"
  # The first report of a race ends the test: it names the seed (tests/support/races.h).
  export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}"
  export OMPI_MCA_mca_base_env_list="ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0"
}

# without_random_addresses COMMAND...: ThreadSanitizer finds its shadow memory at fixed places and
# ends at once where the kernel has put something else there (vm.mmap_rnd_bits above 28). Where
# that choice is refused, in some containers, the addresses stay random.
without_random_addresses() {
  if setarch -R true 2>/dev/null; then
    setarch -R "$@"
  else
    say "setarch -R is not permitted here; if ThreadSanitizer prints 'unexpected memory mapping':" \
      "sysctl vm.mmap_rnd_bits=28"
    "$@"
  fi
}
