#include "frontends/common/wire.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace perfc::wire {

void prefetch_alone(const char* p, const char* end) {
#ifdef MADV_POPULATE_WRITE  // Linux 5.14
  // Past the small tensor that often follows a large one, as far as the next header. A write fault
  // copies a page of a private mapping, and maps the copy alone.
  constexpr auto kAhead = static_cast<std::ptrdiff_t>(kFar + 512);
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(p) / page * page;
  const auto stop = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(std::min(end - p, kAhead));
  ::madvise(reinterpret_cast<void*>(begin), stop - begin, MADV_POPULATE_WRITE);
#endif
}

}  // namespace perfc::wire
