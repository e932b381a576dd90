/// HPCToolkit databases of version 4: meta.db (metrics and call tree), profile.db
/// (values by thread, a summary over all threads first) and cct.db (the same values
/// by node of the tree). Layout: FORMATS.md, which hpcprof puts into every database;
/// names in here are its. Pointers are offsets into the file.
#include <fmt/format.h>

#include <bit>
#include <set>
#include <unordered_map>

#include "counters/readers/reader.h"

namespace perfc {
namespace {

constexpr std::uint64_t kMaxText = 4096;

/// A file whose structures lie at offsets that it tells itself. Reads beyond the
/// end give 0 and make `ok` false; whoever reads a structure asks once.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get(std::uint64_t at) {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T)) {
      ok_ = false;
      return 0;
    }
    T out = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      out |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes_[at + i])) << (8 * i));
    return out;
  }
  double real(std::uint64_t at) { return std::bit_cast<double>(get<std::uint64_t>(at)); }

  /// Up to the NUL byte; 0: empty.
  std::string_view text(std::uint64_t at) {
    if (at == 0) return {};
    const std::size_t end =
        at < bytes_.size() ? bytes_.substr(0, at + kMaxText).find('\0', at) : std::string_view::npos;
    if (end == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    return bytes_.substr(at, end - at);
  }

  /// Whether `count` elements of `size` bytes lie at `at`.
  bool holds(std::uint64_t at, std::uint64_t count, std::uint64_t size) const {
    return at <= bytes_.size() && (size == 0 || count <= (bytes_.size() - at) / size);
  }
  std::uint64_t size() const { return bytes_.size(); }
  bool ok() const { return ok_; }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

struct Database {
  const ProfileFiles::File* file = nullptr;
  Bytes bytes{{}};
  /// Offset of section `n`, counted from 0.
  std::uint64_t section(std::uint64_t n) { return bytes.get<std::uint64_t>(0x18 + 0x10 * n); }
};

/// Opens one of the three files and checks head and foot.
Result<Database> open_database(const ProfileFiles& files, std::string_view base, std::string_view kind,
                               std::string_view foot, Diagnostics& diags) {
  Database out{.file = files.find(base)};
  if (!out.file) return diags.error(fmt::format("lacks {}; name the whole database folder", base));
  diags.in_file(out.file->name);
  const std::string_view all = out.file->bytes;
  if (!all.starts_with("HPCTOOLKIT") || all.substr(0, 14).substr(10) != kind) {
    return diags.error({.offset = 0}, {}, fmt::format("does not begin with \"HPCTOOLKIT{}\"", kind));
  }
  out.bytes = Bytes(all);
  if (const int major = out.bytes.get<std::uint8_t>(0x0e); major != 4) {
    return diags.error({.offset = 0x0e}, {}, fmt::format("version {} of the format; 4 is read", major));
  }
  if (!all.ends_with(foot)) {
    return diags.error({.offset = static_cast<std::int64_t>(all.size())}, {},
                       fmt::format("does not end with \"{}\"; is the file complete?", foot));
  }
  return out;
}

Failure broken(Diagnostics& diags, std::uint64_t at, std::string_view what) {
  return diags.error({.offset = static_cast<std::int64_t>(std::min<std::uint64_t>(at, INT64_MAX))}, {},
                     fmt::format("{} does not lie within the file", what));
}

/// meta.db: metrics by the numbers that the two other files use, and the tree.
class Meta {
 public:
  Meta(Database db, ProfileBuilder& builder, Diagnostics& diags)
      : b_(db.bytes), db_(std::move(db)), builder_(builder), diags_(diags) {}

  Status read() {
    builder_.about("program", b_.text(b_.get<std::uint64_t>(db_.section(0))));
    if (!read_kinds() || !read_metrics() || !read_tree()) return Failure{};
    if (!b_.ok()) return diags_.error("a structure reaches beyond the end of the file");
    return ok();
  }

  /// Region of a node of the tree; 0 is the whole run.
  std::optional<std::size_t> region(std::uint32_t context) const {
    if (context == 0) return 0;
    const auto found = regions_.find(context);
    if (found == regions_.end()) return {};
    return found->second;
  }
  /// Metrics of profile.db's summary, and of single threads; others are not read.
  const std::unordered_map<std::uint16_t, std::size_t>& summed() const { return summed_; }
  const std::unordered_map<std::uint16_t, std::size_t>& per_thread() const { return per_thread_; }
  std::string_view kind(std::uint8_t k) const {
    return k < kinds_.size() ? std::string_view(kinds_[k]) : std::string_view();
  }

 private:
  Status read_kinds() {
    const std::uint64_t head = db_.section(1), names = b_.get<std::uint64_t>(head);
    const std::uint8_t count = b_.get<std::uint8_t>(head + 8);
    for (std::uint8_t k = 0; k < count; ++k) kinds_.emplace_back(b_.text(b_.get<std::uint64_t>(names + 8 * k)));
    return b_.ok() ? ok() : broken(diags_, names, "the list of identifier names");
  }

  /// Reads the metric in two scopes: with all that is below a node, and within its function.
  Status read_metrics() {
    const std::uint64_t head = db_.section(2), first = b_.get<std::uint64_t>(head);
    const std::uint32_t count = b_.get<std::uint32_t>(head + 8);
    const std::uint8_t stride = b_.get<std::uint8_t>(head + 0x0c), scope_stride = b_.get<std::uint8_t>(head + 0x0d);
    const std::uint8_t summary_stride = b_.get<std::uint8_t>(head + 0x0e);
    if (stride < 32 || scope_stride < 16 || summary_stride < 24 || !b_.holds(first, count, stride))
      return broken(diags_, head, "the list of metrics");
    std::uint64_t described = 0;
    for (std::uint32_t m = 0; m < count; ++m) {
      const std::uint64_t at = first + std::uint64_t{m} * stride;
      described += b_.get<std::uint16_t>(at + 0x18) + std::uint64_t{b_.get<std::uint16_t>(at + 0x1a)};
      if (described > b_.size() / 16) {
        return diags_.error({.offset = static_cast<std::int64_t>(at)}, {},
                            "the scopes of several metrics lie in the same place");
      }
      const std::string name(b_.text(b_.get<std::uint64_t>(at)));
      const std::uint64_t scopes = b_.get<std::uint64_t>(at + 8), summaries = b_.get<std::uint64_t>(at + 0x10);
      for (std::uint64_t i = 0; i < b_.get<std::uint16_t>(at + 0x18) && b_.ok(); ++i) {
        const std::uint64_t inst = scopes + i * scope_stride;
        use(per_thread_, b_.get<std::uint16_t>(inst + 8), name, scope_name(inst));
      }
      for (std::uint64_t i = 0; i < b_.get<std::uint16_t>(at + 0x1a) && b_.ok(); ++i) {
        const std::uint64_t summary = summaries + i * summary_stride;
        const bool plain_sum =
            b_.get<std::uint8_t>(summary + 0x10) == 0 && b_.text(b_.get<std::uint64_t>(summary + 8)) == "$$";
        if (plain_sum) use(summed_, b_.get<std::uint16_t>(summary + 0x12), name, scope_name(summary));
      }
      if (!b_.ok()) return broken(diags_, at, fmt::format("metric {}", m));
    }
    return ok();
  }

  std::string_view scope_name(std::uint64_t at) { return b_.text(b_.get<std::uint64_t>(b_.get<std::uint64_t>(at))); }

  void use(std::unordered_map<std::uint16_t, std::size_t>& table, std::uint16_t id, const std::string& name,
           std::string_view scope) {
    if (scope == "execution") table.try_emplace(id, builder_.metric({.name = name}));
    if (scope == "function") table.try_emplace(id, builder_.metric({.name = name + " (E)", .scope = Scope::Function}));
  }

  struct Children {
    std::uint64_t at, end;
    std::size_t parent;
  };

  Status read_tree() {
    const std::uint64_t head = db_.section(3), first = b_.get<std::uint64_t>(head);
    const std::uint16_t entries = b_.get<std::uint16_t>(head + 8);
    const std::uint8_t stride = b_.get<std::uint8_t>(head + 0x0a);
    if (stride < 32 || !b_.holds(first, entries, stride)) return broken(diags_, head, "the list of entry points");
    std::vector<Children> open;
    for (std::uint64_t e = 0; e < entries; ++e) {
      const std::uint64_t at = first + e * stride;
      if (!add_region(at, b_.text(b_.get<std::uint64_t>(at + 0x18)), 0, open)) return Failure{};
      while (!open.empty()) {
        if (open.back().at >= open.back().end) {
          open.pop_back();
          continue;
        }
        const std::uint64_t ctx = open.back().at;
        const std::uint64_t size = 0x20 + 8 * std::uint64_t{b_.get<std::uint8_t>(ctx + 0x17)};
        if (open.back().end - ctx < size) return broken(diags_, ctx, "a node of the call tree");
        open.back().at += size;
        if (!add_region(ctx, label(ctx), open.back().parent, open)) return Failure{};
      }
    }
    return ok();
  }

  /// Entry points and contexts begin alike: szChildren, pChildren, ctxId.
  Status add_region(std::uint64_t at, std::string_view name, std::size_t parent, std::vector<Children>& open) {
    const std::uint64_t size = b_.get<std::uint64_t>(at), children = b_.get<std::uint64_t>(at + 8);
    const std::uint32_t id = b_.get<std::uint32_t>(at + 0x10);
    if (!b_.ok() || !b_.holds(children, size, 1)) return broken(diags_, at, "a node of the call tree");
    const std::size_t region = builder_.region(name, parent);
    if (id == 0 || !regions_.try_emplace(id, region).second) {
      return diags_.error({.node = id, .offset = static_cast<std::int64_t>(at)}, {},
                          id == 0 ? "a node has the number 0, which is the whole run's"
                                  : "the node occurs twice: the call tree is no tree");
    }
    if (size > 0) open.push_back({children, children + size, region});
    return ok();
  }

  /// What people call a node: function, loop, line, instruction.
  std::string label(std::uint64_t ctx) {
    const std::uint8_t flags = b_.get<std::uint8_t>(ctx + 0x14), type = b_.get<std::uint8_t>(ctx + 0x16);
    const std::uint64_t words = b_.get<std::uint8_t>(ctx + 0x17);
    std::uint64_t next = 0;
    const auto word = [&] { return next < words ? b_.get<std::uint64_t>(ctx + 0x20 + 8 * next++) : 0; };
    const std::uint64_t function = flags & 1 ? word() : 0, file = flags & 2 ? word() : 0,
                        line = flags & 2 ? word() & 0xffffffff : 0;
    const std::uint64_t module = flags & 4 ? word() : 0, offset = flags & 4 ? word() : 0;
    const auto path = [&](std::uint64_t at) {
      return at ? b_.text(b_.get<std::uint64_t>(at + 8)) : std::string_view("unknown file");
    };
    switch (type) {
      case 0: {
        const std::string_view name = function ? b_.text(b_.get<std::uint64_t>(function)) : std::string_view();
        return std::string(name.empty() ? "unknown function" : name);
      }
      case 1:
        return fmt::format("loop at {}:{}", path(file), line);
      case 2:
        return fmt::format("{}:{}", path(file), line);
      default:
        return fmt::format("{}@{:#x}", path(module), offset);
    }
  }

  Bytes b_;
  Database db_;
  ProfileBuilder& builder_;
  Diagnostics& diags_;
  std::vector<std::string> kinds_;
  std::unordered_map<std::uint16_t, std::size_t> summed_, per_thread_;
  std::unordered_map<std::uint32_t, std::size_t> regions_;
};

/// A sparse block: `count` values of `value_size` bytes, and an index whose entries
/// begin with an id and tell from which value on it holds.
struct Block {
  std::uint64_t values = 0, count = 0, index = 0, ids = 0;
};

bool lies_within(Bytes& b, const Block& block, std::uint64_t value_size, std::uint64_t index_size) {
  return b.ok() && b.holds(block.values, block.count, value_size) && b.holds(block.index, block.ids, index_size);
}

/// profile.db: the summary over all threads, and which threads there were.
Status add_summary(Database db, const Meta& meta, ProfileBuilder& builder, Diagnostics& diags) {
  Bytes& b = db.bytes;
  const std::uint64_t head = db.section(0), first = b.get<std::uint64_t>(head);
  const std::uint32_t profiles = b.get<std::uint32_t>(head + 8);
  const std::uint8_t stride = b.get<std::uint8_t>(head + 0x0c);
  if (profiles == 0 || stride < 0x2c || !b.ok() || !b.holds(first, profiles, stride))
    return broken(diags, head, "the list of profiles");
  if ((b.get<std::uint32_t>(first + 0x28) & 1) == 0)
    return diags.error({.offset = static_cast<std::int64_t>(first)}, {}, "the first profile is no summary");

  const Block block{b.get<std::uint64_t>(first + 8), b.get<std::uint64_t>(first), b.get<std::uint64_t>(first + 0x18),
                    b.get<std::uint32_t>(first + 0x10)};
  if (!lies_within(b, block, 10, 12)) return broken(diags, first, "the summary's values");
  for (std::uint64_t i = 0; i < block.ids; ++i) {
    const std::uint64_t at = block.index + 12 * i;
    const std::uint32_t context = b.get<std::uint32_t>(at);
    const std::uint64_t begin = b.get<std::uint64_t>(at + 4),
                        end = i + 1 < block.ids ? b.get<std::uint64_t>(at + 16) : block.count;
    if (begin > end || end > block.count) return broken(diags, at, "the values of a node");
    const auto region = meta.region(context);
    if (!region) continue;  // hpcprof leaves nodes out of meta.db whose parents tell the same
    for (std::uint64_t v = begin; v < end; ++v) {
      const auto metric = meta.summed().find(b.get<std::uint16_t>(block.values + 10 * v));
      if (metric != meta.summed().end()) builder.add(*region, metric->second, b.real(block.values + 10 * v + 2));
    }
  }

  std::size_t threads = 0, streams = 0;
  std::set<std::uint64_t> ranks;
  for (std::uint64_t p = 1; p < profiles; ++p) {
    const std::uint64_t at = first + p * stride, tuple = b.get<std::uint64_t>(at + 0x20);
    if (b.get<std::uint32_t>(at + 0x28) & 1) continue;
    const std::uint16_t ids = b.get<std::uint16_t>(tuple);
    if (!b.ok() || !b.holds(tuple + 8, ids, 16)) return broken(diags, at, "the identity of a profile");
    bool stream = false;
    for (std::uint64_t i = 0; i < ids && i < 64; ++i) {
      const std::string_view kind = meta.kind(b.get<std::uint8_t>(tuple + 8 + 16 * i));
      stream |= kind == "GPUSTREAM";
      if (kind == "RANK") ranks.insert(b.get<std::uint32_t>(tuple + 8 + 16 * i + 4));
    }
    ++(stream ? streams : threads);
  }
  if (!ranks.empty()) builder.about("ranks", fmt::format("{}", ranks.size()));
  if (threads > 0) builder.add(0, builder.metric({.name = "profiled threads"}), static_cast<double>(threads));
  if (streams > 0) builder.add(0, builder.metric({.name = "profiled streams"}), static_cast<double>(streams));
  return ok();
}

/// cct.db: values of all threads by node, for databases without a profile.db.
Status add_contexts(Database db, const Meta& meta, ProfileBuilder& builder, Diagnostics& diags) {
  Bytes& b = db.bytes;
  const std::uint64_t head = db.section(0), first = b.get<std::uint64_t>(head);
  const std::uint32_t contexts = b.get<std::uint32_t>(head + 8);
  const std::uint8_t stride = b.get<std::uint8_t>(head + 0x0c);
  if (stride < 32 || !b.ok() || !b.holds(first, contexts, stride)) return broken(diags, head, "the list of nodes");
  std::uint64_t seen = 0;
  for (std::uint64_t c = 0; c < contexts; ++c) {
    const std::uint64_t at = first + c * stride;
    const Block block{b.get<std::uint64_t>(at + 8), b.get<std::uint64_t>(at), b.get<std::uint64_t>(at + 0x18),
                      b.get<std::uint16_t>(at + 0x10)};
    if (!lies_within(b, block, 12, 10)) return broken(diags, at, "the values of a node");
    seen += block.count;
    if (seen > b.size() / 12)
      return diags.error({.offset = static_cast<std::int64_t>(at)}, {},
                         "the values of several nodes lie in the same place");
    const auto region = meta.region(static_cast<std::uint32_t>(c));
    if (!region) continue;
    for (std::uint64_t i = 0; i < block.ids; ++i) {
      const std::uint64_t index = block.index + 10 * i;
      const auto metric = meta.per_thread().find(b.get<std::uint16_t>(index));
      const std::uint64_t begin = b.get<std::uint64_t>(index + 2),
                          end = i + 1 < block.ids ? b.get<std::uint64_t>(index + 12) : block.count;
      if (begin > end || end > block.count) return broken(diags, index, "the values of a metric");
      for (std::uint64_t v = begin; metric != meta.per_thread().end() && v < end; ++v)
        builder.add(*region, metric->second, b.real(block.values + 12 * v + 4));
    }
  }
  return ok();
}

}  // namespace

bool sniff_hpctoolkit_db(const ProfileFiles& files) {
  return files.find("meta.db") || files.files.front().bytes.starts_with("HPCTOOLKIT");
}

Result<Profile> read_hpctoolkit_db(const ProfileFiles& files, Diagnostics& diags) {
  ProfileBuilder builder(files.path, "hpctoolkit-db");
  auto meta_db = open_database(files, "meta.db", "meta", "_meta.db", diags);
  if (!meta_db) return Failure{};
  Meta meta(std::move(*meta_db), builder, diags);
  if (!meta.read()) return Failure{};
  diags.in_file(files.path);
  if (!files.find("profile.db") && files.find("cct.db")) {
    auto cct = open_database(files, "cct.db", "ctxt", "__ctx.db", diags);
    if (!cct || !add_contexts(std::move(*cct), meta, builder, diags)) return Failure{};
  } else {
    auto summary = open_database(files, "profile.db", "prof", "_prof.db", diags);
    if (!summary || !add_summary(std::move(*summary), meta, builder, diags)) return Failure{};
  }
  diags.in_file(files.path);
  return builder.finish(diags);
}

}  // namespace perfc
