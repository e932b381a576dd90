#include <sys/mman.h>

#include <utility>

#include "ir/support/input_file.h"

namespace perfc {

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_) ::munmap(data_, size_);
}

bool Mapping::grow(std::size_t size) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* p = data_ ? ::mremap(data_, size_, size, MREMAP_MAYMOVE)
                  : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (p == MAP_FAILED) return false;
  data_ = static_cast<char*>(p);
  size_ = size;
  ::madvise(p, size, MADV_NOHUGEPAGE);  // a header between weights would cost as much as they do
  return true;
}

}  // namespace perfc
