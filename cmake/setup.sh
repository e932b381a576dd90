# Sourced by ./perfc and ./check: what Debian packages are there, and the build.
# Everything it says goes to standard error.

say() { printf '%s\n' "perfc: $*" >&2; }

# packages STAGE...: names of cmake/packages.txt in these stages.
packages() {
  local stage package _
  while read -r stage package _; do
    [[ " $* " == *" $stage "* ]] && printf '%s\n' "$package"
  done < "$root/cmake/packages.txt"
  return 0
}

# ensure_packages STAGE...: installs what is missing, as root or through sudo.
# Elsewhere than on Debian CMake says what it does not find.
ensure_packages() {
  command -v dpkg-query > /dev/null || return 0
  local package missing=() as_root=()
  while read -r package; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] ||
      missing+=("$package")
  done < <(packages "$@")
  ((${#missing[@]} == 0)) && return 0

  if ((EUID != 0)); then
    if command -v sudo > /dev/null && { [[ -t 2 ]] || sudo -n true 2> /dev/null; }; then
      as_root=(sudo)
    else
      say "these Debian packages are missing: ${missing[*]}"
      say "install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
      return 1
    fi
  fi
  say "installing Debian packages: ${missing[*]}"
  {
    "${as_root[@]}" apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } >&2 && return 0
  say "installation failed; missing: ${missing[*]}"
  return 1
}

# build TARGET [cmake option...]: configures the release preset and builds.
build() {
  local target=$1
  shift
  (cd "$root" && cmake --preset release --log-level=NOTICE "$@" &&
    cmake --build build/release --target "$target") >&2
}
