#include "cli/sweep/journal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/sweep/settings.h"
#include "ir/support/csv.h"
#include "ir/support/input_file.h"

namespace perfc::cli {
namespace {

constexpr const char* kOtherwise = "name another file, or give --overwrite";

/// Whether a run can continue what is in it: a file of its own, neither a device nor a pipe.
bool is_continued(const std::string& path) {
  if (path.starts_with("/dev/") || path.starts_with("/proc/")) return false;
  struct stat st {};
  return ::stat(path.c_str(), &st) != 0 || S_ISREG(st.st_mode);
}

bool has_reader(int fd) {
  struct pollfd pipe {
    .fd = fd, .events = POLLOUT, .revents = 0
  };
  return ::poll(&pipe, 1, 0) < 0 || !(pipe.revents & POLLERR);
}

/// Whether a row may have this dtype: a file in 16 bits runs in its own width where the runtime's was asked for.
bool is_dtype_of(std::string_view dtype, const Request& run) {
  return dtype == name(run.exec.precision) ||
         (run.dtype_from == DtypeFrom::Runtime && (dtype == name(Precision::Fp16) || dtype == name(Precision::Bf16)));
}

bool is_of(const std::vector<std::string>& fields, const SweepKey& key) {
  return fields.size() == kSweepColumns && fields[0] == key.model.name &&
         (!key.batch || fields[1] == fmt::to_string(*key.batch)) && fields[2] == key.device.name &&
         is_dtype_of(fields[3], key.run) && fields[4] == def(key.run.exec.runtime).name;
}

/// The line at `at`, which is moved behind it; empty: a torn one.
std::optional<std::string_view> whole_line(std::string_view text, std::size_t& at) {
  const std::size_t end = text.find('\n', at);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(at, end + 1 - at);
  at = end + 1;
  return line;
}

}  // namespace

bool SweepJournal::keep(std::string_view table, const SweepPlan& plan, const std::string& path) {
  std::size_t at = 0, failed = 0;
  if (whole_line(table, at) != kSweepHead) {
    fail(kBadInput, fmt::format("{}:1: is not the head of a sweep's table; {}", path, kOtherwise));
    return false;
  }
  bytes_ = at;
  for (std::size_t row = 0;; ++row) {
    const auto line = whole_line(table, at);
    if (!line) return true;
    Diagnostics unsaid;
    const auto read = parse_csv_rows(*line, unsaid);
    if (row == plan.rows() || !read || read->size() != 1 || !is_of(read->front().fields, key_of(plan, row))) {
      fail(kBadInput, fmt::format("{}:{}: is not the row that this sweep has here; {}", path, row + 2, kOtherwise));
      return false;
    }
    failed += !read->front().fields.back().empty();
    if ((row + 1) % plan.devices.size() != 0) continue;
    bytes_ = at;
    ++units_;
    failed_ = failed;
  }
}

std::optional<SweepJournal> SweepJournal::open(const std::string& path, const SweepPlan& plan,
                                               const std::string& settings, Existing existing) {
  SweepJournal out;
  Diagnostics diags;
  out.standard_output_ = path.empty() || path == "-";
  const std::string target = out.standard_output_ ? "/dev/stdout" : path, beside = path + ".settings";
  if (is_continued(target)) {
    out.lock_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!out.lock_ || ::flock(out.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      const bool other = out.lock_ && errno == EWOULDBLOCK;
      fail(kBadInput, other ? fmt::format("{}: another sweep is writing it", path)
                            : fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
      return std::nullopt;
    }
    auto table = InputFile::open(path, diags);
    if (table && existing == Existing::Continued && !kSweepHead.starts_with(table->bytes())) {
      if (!same_settings(beside, settings, path) || !out.keep(table->bytes(), plan, path)) return std::nullopt;
    } else if (table) {
      // Rows never stand beside settings that they were not made with.
      if (::ftruncate(out.lock_.get(), 0) != 0) diags.error(fmt::format("{}: {}", path, std::strerror(errno)));
      else if (!write_file(beside, settings, diags)) diags.error("a sweep keeps its settings beside its table");
    }
  }
  if (diags.errors() == 0) {
    auto file = LogFile::open(target, out.bytes_, diags);
    if (file) out.file_ = std::move(*file);
    if (file && out.bytes_ == 0 && out.write(kSweepHead) == Written::Failed) return std::nullopt;
  }
  print(diags);
  return diags.errors() == 0 ? std::optional(std::move(out)) : std::nullopt;
}

SweepJournal::Written SweepJournal::write(std::string_view rows) {
  Diagnostics diags;
  if (standard_output_ && !has_reader(STDOUT_FILENO)) return Written::Unread;
  if (file_->write(rows, diags)) return Written::Good;
  print(diags);
  return Written::Failed;
}

}  // namespace perfc::cli
