#pragma once
/// Declared for libc++'s <filesystem>, which expects it of musl; WASI has none, and no file is copied here.
#include <sys/types.h>

extern "C" ssize_t copy_file_range(int, off_t*, int, off_t*, size_t, unsigned);
