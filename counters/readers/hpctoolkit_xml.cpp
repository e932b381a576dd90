/// HPCToolkit databases up to version 3 of the tool: experiment.xml, format 2.x, and
/// a metric-db file per thread. The XML is walked with expat as it comes: call trees
/// are deeper than the hundred levels that tinyxml2 takes. The document type that
/// HPCToolkit writes at the head of the file tells what the elements mean.
#include <expat.h>
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <memory>
#include <set>
#include <unordered_map>

#include "counters/readers/reader.h"
#include "ir/support/csv.h"

namespace perfc {
namespace {

std::optional<std::uint32_t> whole(std::string_view s) {
  std::uint32_t v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (s.empty() || error != std::errc() || end != s.data() + s.size()) return {};
  return v;
}

/// Attributes of an element: name, value, name, value, …, null.
class Attributes {
 public:
  explicit Attributes(const XML_Char** all) : all_(all) {}
  std::string_view operator[](std::string_view name) const {
    for (const XML_Char** a = all_; *a; a += 2) {
      if (name == *a) return a[1];
    }
    return {};
  }

 private:
  const XML_Char** all_;
};

/// One column of the metric-db files.
struct DbMetric {
  std::string name;
  Scope scope = Scope::Inclusive;
  std::uint32_t column = 0;
};

Scope scope_of(std::string_view type) { return type == "exclusive" ? Scope::Function : Scope::Inclusive; }

class Experiment {
 public:
  Experiment(const ProfileFiles& files, Diagnostics& diags)
      : builder_(files.path, "hpctoolkit-xml"), diags_(diags), parser_(XML_ParserCreate(nullptr)) {
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(
        parser_.get(),
        [](void* self, const XML_Char* name, const XML_Char** all) {
      static_cast<Experiment*>(self)->start(name, Attributes(all));
        },
        [](void* self, const XML_Char* name) { static_cast<Experiment*>(self)->end(name); });
    XML_SetEntityDeclHandler(parser_.get(), [](void* self, const XML_Char* name, int, const XML_Char*, int,
                                               const XML_Char*, const XML_Char*, const XML_Char*, const XML_Char*) {
      static_cast<Experiment*>(self)->refuse(fmt::format("declares the entity '{}'; HPCToolkit declares none", name));
    });
  }

  Status parse(std::string_view bytes) {
    constexpr std::size_t kChunk = 1 << 20;
    XML_Status status = XML_STATUS_OK;
    for (std::size_t at = 0; status == XML_STATUS_OK && at <= bytes.size(); at += kChunk) {
      const std::string_view chunk = bytes.substr(at, kChunk);
      status = XML_Parse(parser_.get(), chunk.data(), static_cast<int>(chunk.size()), at + kChunk > bytes.size());
    }
    if (refused_) return Failure{};
    if (status != XML_STATUS_OK) {
      return diags_.error(here(), {},
                          fmt::format("not well-formed XML: {}; is the file complete?",
                                      XML_ErrorString(XML_GetErrorCode(parser_.get()))));
    }
    if (!tree_seen_) return diags_.error("holds no profile (SecCallPathProfileData or SecFlatProfileData)");
    return ok();
  }

  const std::vector<DbMetric>& db_metrics() const { return db_metrics_; }
  std::uint32_t db_columns() const { return db_columns_; }
  /// Nodes with a number; the whole run has 1.
  const std::unordered_map<std::uint32_t, std::size_t>& nodes() const { return nodes_; }
  ProfileBuilder& builder() { return builder_; }

 private:
  SourceLoc here() const {
    return {.line = static_cast<std::int32_t>(XML_GetCurrentLineNumber(parser_.get())),
            .column = static_cast<std::int32_t>(XML_GetCurrentColumnNumber(parser_.get())) + 1};
  }

  void refuse(std::string why, std::string_view name = {}) {
    if (refused_) return;
    refused_ = true;
    (void)diags_.error(here(), name, std::move(why));
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  /// Number that identifies something; refuses where it is none.
  std::uint32_t id(const Attributes& a, std::string_view element, std::string_view attribute = "i") {
    const auto v = whole(a[attribute]);
    if (!v) refuse(fmt::format("<{}>: '{}' is no number: \"{}\"", element, attribute, a[attribute]));
    return v.value_or(0);
  }

  void start(std::string_view name, const Attributes& a) {
    if (refused_) return;
    if (tree_ > 0) return in_tree(name, a);
    if (name == "HPCToolkitExperiment") {
      if (!a["version"].starts_with("2."))
        refuse(fmt::format("version \"{}\" of the format; 2.x is read", a["version"]));
    } else if (name == "Metric") {
      metric_ = id(a, name);
      if (a["n"].empty()) return refuse("<Metric> without a name");
      metrics_[metric_] = {.name = std::string(a["n"]), .scope = scope_of(a["t"])};
    } else if (name == "MetricFormula") {
      // "$5" hands on what is stored; anything else has to be computed from other columns.
      if (a["t"] == "finalize" && a["frm"] != fmt::format("${}", metric_)) computed_.insert(metric_);
    } else if (name == "MetricDB") {
      db_metrics_.push_back({std::string(a["n"]), scope_of(a["t"]), id(a, name, "db-id")});
      db_columns_ = id(a, name, "db-num-metrics");
      const std::uint32_t column = db_metrics_.back().column;
      if (!db_columns_taken_.insert(column).second)
        return refuse(fmt::format("column {} is given twice", column), a["n"]);
      if (column >= db_columns_) refuse(fmt::format("column {} of {} columns", column, db_columns_), a["n"]);
    } else if (name == "LoadModule" || name == "File" || name == "Procedure") {
      names_[std::string(name)][id(a, name)] = a["n"];
    } else if (name == "Header" || name == "SecCallPathProfile") {
      if (name == "Header") builder_.about("program", a["n"]);
    } else if (name == "SecCallPathProfileData" || name == "SecFlatProfileData") {
      if (tree_seen_) return refuse("a second profile in one file");
      tree_ = 1;
      tree_seen_ = true;
      for (const std::uint32_t m : computed_) builder_.unmeasured(metrics_[m].name, "computed by a formula");
    }
  }

  void in_tree(std::string_view name, const Attributes& a) {
    ++tree_;
    if (name == "M") return value(a);
    const std::size_t parent = open_.empty() ? 0 : open_.back();
    const std::size_t region = builder_.region(label(name, a), parent);
    open_.push_back(region);
    if (a["i"].empty()) return;
    if (!nodes_.try_emplace(id(a, name), region).second)
      refuse(fmt::format("<{}>: the number {} occurs twice", name, a["i"]));
  }

  void value(const Attributes& a) {
    const auto found = metrics_.find(id(a, "M", "n"));
    if (refused_) return;
    if (found == metrics_.end()) return refuse(fmt::format("<M>: no metric has the number \"{}\"", a["n"]));
    const auto v = parse_number(a["v"]);
    if (!v) return refuse(fmt::format("<M>: the value is no number: \"{}\"", a["v"]), found->second.name);
    if (!computed_.contains(found->first))
      builder_.add(open_.empty() ? 0 : open_.back(), builder_.metric(found->second), *v);
  }

  void end(std::string_view name) {
    if (refused_ || tree_ == 0) return;
    if (--tree_ == 0 || name == "M") return;
    open_.pop_back();
  }

  /// What people call a node: procedure, loop, call site, statement.
  std::string label(std::string_view kind, const Attributes& a) {
    const std::string_view line = a["l"];
    if (kind == "PF" || kind == "Pr" || kind == "P") return std::string(name_of("Procedure", a["n"]));
    if (kind == "LM") return std::string(name_of("LoadModule", a["n"]));
    if (kind == "F") return std::string(name_of("File", a["n"]));
    if (kind == "L") return fmt::format("loop at {}:{}", name_of("File", a["f"]), line);
    return fmt::format("{} line {}", kind == "C" ? "call in" : "statement in", line);
  }

  /// The name for a number; older files hold the name itself.
  std::string_view name_of(const char* table, std::string_view key) const {
    const auto number = whole(key);
    const auto names = names_.find(table);
    if (!number || names == names_.end()) return key;
    const auto found = names->second.find(*number);
    return found == names->second.end() ? key : std::string_view(found->second);
  }

  struct FreeParser {
    void operator()(XML_Parser p) const { XML_ParserFree(p); }
  };
  ProfileBuilder builder_;
  Diagnostics& diags_;
  std::unique_ptr<XML_ParserStruct, FreeParser> parser_;
  std::unordered_map<std::uint32_t, Metric> metrics_;
  std::set<std::uint32_t> computed_;
  std::vector<DbMetric> db_metrics_;
  std::set<std::uint32_t> db_columns_taken_;
  std::uint32_t db_columns_ = 0;
  std::map<std::string, std::unordered_map<std::uint32_t, std::string>, std::less<>> names_;
  std::unordered_map<std::uint32_t, std::size_t> nodes_;
  std::vector<std::size_t> open_;
  std::uint32_t metric_ = 0;
  std::size_t tree_ = 0;  ///< open elements of the tree, its own counted
  bool tree_seen_ = false, refused_ = false;
};

/// A metric-db file: tag, version, endianness, number of nodes and of metrics, then
/// a double per node and metric.
struct MetricDb {
  static constexpr std::string_view kTag = "HPCPROF-metricdb__";
  static constexpr std::size_t kHead = 32;
  std::uint32_t nodes = 0, metrics = 0;
  std::string_view values;
  bool big_endian = true;

  double at(std::size_t node, std::size_t metric) const {
    return std::bit_cast<double>(load<std::uint64_t>(values.data() + (node * metrics + metric) * 8));
  }

  template <class T>
  T load(const char* p) const {
    T out = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out |= static_cast<T>(static_cast<unsigned char>(p[i])) << (8 * (big_endian ? sizeof(T) - 1 - i : i));
    }
    return out;
  }
};

Result<MetricDb> read_metric_db(std::string_view bytes, std::uint32_t metrics, Diagnostics& diags) {
  if (bytes.size() < MetricDb::kHead || !bytes.starts_with(MetricDb::kTag)) {
    return diags.error({.offset = 0}, {},
                       fmt::format("no metric-db file: it does not begin with \"{}\" and a head of {} bytes",
                                   MetricDb::kTag, MetricDb::kHead));
  }
  MetricDb db;
  const char endian = bytes[23];
  if (endian != 'b' && endian != 'l')
    return diags.error({.offset = 23}, {}, "neither big-endian ('b') nor little-endian ('l')");
  db.big_endian = endian == 'b';
  db.nodes = db.load<std::uint32_t>(bytes.data() + 24);
  db.metrics = db.load<std::uint32_t>(bytes.data() + 28);
  db.values = bytes.substr(MetricDb::kHead);
  if (db.metrics != metrics) {
    return diags.error({.offset = 28}, {},
                       fmt::format("holds {} metrics per node, but experiment.xml tells {}", db.metrics, metrics));
  }
  const std::uint64_t expected = std::uint64_t{8} * db.nodes * db.metrics;
  if (expected / 8 / std::max(db.metrics, 1u) != db.nodes || expected != db.values.size()) {
    return diags.error(
        {.offset = 24}, {},
        fmt::format("{} nodes of {} metrics need {} bytes of values, but the file has {}; is it complete?", db.nodes,
                    db.metrics, expected, db.values.size()));
  }
  return db;
}

/// Adds the values of all threads.
Status add_metric_dbs(const ProfileFiles& files, Experiment& experiment, Diagnostics& diags) {
  std::vector<double> sums;
  std::size_t threads = 0;
  std::uint32_t nodes = 0;
  for (const ProfileFiles::File& f : files.files) {
    if (!f.name.ends_with(".metric-db")) continue;
    diags.in_file(f.name);
    const auto db = read_metric_db(f.bytes, experiment.db_columns(), diags);
    if (!db) return Failure{};
    if (threads++ == 0) nodes = db->nodes;
    if (db->nodes != nodes)
      return diags.error({.offset = 24}, {},
                         fmt::format("{} nodes, but the files before it have {}", db->nodes, nodes));
    sums.resize(std::size_t{nodes} * db->metrics, 0.0);
    for (std::size_t n = 0; n < nodes; ++n) {
      for (std::size_t m = 0; m < db->metrics; ++m) sums[n * db->metrics + m] += db->at(n, m);
    }
  }
  diags.in_file(files.path);
  if (threads == 0) return ok();
  ProfileBuilder& builder = experiment.builder();
  builder.add(0, builder.metric({.name = "profiled threads"}), static_cast<double>(threads));
  for (const DbMetric& m : experiment.db_metrics()) {
    const std::size_t metric = builder.metric({.name = m.name, .scope = m.scope});
    for (const auto& [id, region] : experiment.nodes()) {
      if (id == 0 || id > nodes)
        return diags.error(
            fmt::format("experiment.xml has a node {}, but the metric-db files have rows for 1 to {}", id, nodes));
      const double v = sums[(id - 1) * experiment.db_columns() + m.column];
      if (v != 0) builder.add(region, metric, v);
    }
    if (nodes > 0 && m.scope == Scope::Inclusive) builder.add(0, metric, sums[m.column]);
  }
  return ok();
}

const ProfileFiles::File* experiment_file(const ProfileFiles& files) {
  if (const auto* f = files.find("experiment.xml")) return f;
  return files.files.size() == 1 ? &files.files.front() : nullptr;
}

}  // namespace

bool sniff_hpctoolkit_xml(const ProfileFiles& files) {
  const ProfileFiles::File* f = experiment_file(files);
  return f && f->bytes.substr(0, 4096).find("HPCToolkitExperiment") != std::string_view::npos;
}

Result<Profile> read_hpctoolkit_xml(const ProfileFiles& files, Diagnostics& diags) {
  const ProfileFiles::File& xml = *experiment_file(files);
  Experiment experiment(files, diags);
  diags.in_file(xml.name);
  if (!experiment.parse(xml.bytes)) return Failure{};
  diags.in_file(files.path);
  if (!add_metric_dbs(files, experiment, diags)) return Failure{};
  return experiment.builder().finish(diags);
}

}  // namespace perfc
