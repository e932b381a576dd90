/// The allocator of `perfc`; compiled into that program alone, and not where sanitizers bring their own.
#ifdef PERFC_MIMALLOC
#include <mimalloc.h>

namespace {

/// A third of the time would be page faults otherwise. Before the first constructor: from the first allocation on
/// it is too late for the 32 MiB that most runs live in.
void use_large_pages(int, char**, char**) { mi_option_enable(mi_option_large_os_pages); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_constructors)(int, char**, char**) = use_large_pages;

}  // namespace
#endif
