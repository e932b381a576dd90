#include "gnn/checkpoint.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace perfc {

namespace {

using Json = nlohmann::ordered_json;

/// Reads one metadata entry; every accessor reports and answers with a default.
class Reader {
 public:
  Reader(const Tensors& file, Diagnostics& diags) : file_(file), diags_(diags) {}

  const std::string& text(const std::string& key) {
    static const std::string kNone;
    const auto found = file_.metadata.find(key);
    if (found == file_.metadata.end()) return complain(key, "is missing from the metadata"), kNone;
    return found->second;
  }

  Json json(const std::string& key, Json::value_t type) {
    int deepest = 0;
    const auto measure = [&](int depth, Json::parse_event_t, Json&) {
      return (deepest = std::max(deepest, depth)) <= 8;
    };
    Json j = Json::parse(text(key), measure, false);
    if (good_ && (j.is_discarded() || deepest > 8 || j.type() != type)) complain(key, "is not what perfc writes");
    return good_ ? j : Json(type);
  }

  std::string string(const Json& j, const char* field, const std::string& key) {
    if (j.is_object() && j.contains(field) && j[field].is_string()) return j[field].get<std::string>();
    return complain(key, fmt::format("wants a string '{}'", field)), std::string();
  }

  double number(const Json& j, const std::string& key) {
    if (j.is_number() && std::isfinite(j.get<double>())) return j.get<double>();
    return complain(key, "wants finite numbers"), 0;
  }

  void complain(const std::string& key, std::string_view what) {
    if (good_) diags_.error(fmt::format("checkpoint: {} {}", key, what));
    good_ = false;
  }
  bool good() const { return good_; }

 private:
  const Tensors& file_;
  Diagnostics& diags_;
  bool good_ = true;
};

Json to_json(const FeatureTable& t) {
  Json columns = Json::array();
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    Json c{{"name", t.columns[i].name}, {"unit", t.columns[i].unit}};
    if (t.normaliser) {
      c["scale"] = t.normaliser->scales()[i] == Normaliser::Scale::Log ? "log1p" : "linear";
      c["mean"] = t.normaliser->means()[i];
      c["deviation"] = t.normaliser->deviations()[i];
    }
    columns.push_back(std::move(c));
  }
  return {{"name", t.name}, {"columns", std::move(columns)}};
}

FeatureTable read_table(const Json& j, Reader& in) {
  const std::string key = "perfc.tables";
  FeatureTable t{.name = in.string(j, "name", key)};
  if (!j.is_object() || !j.contains("columns") || !j["columns"].is_array())
    return in.complain(key, "wants 'columns'"), t;
  std::vector<Normaliser::Scale> scales;
  std::vector<double> means, deviations;
  for (const Json& c : j["columns"]) {
    t.columns.push_back({in.string(c, "name", key), in.string(c, "unit", key), {}});
    if (!in.good()) return t;
    if (!c.contains("scale")) continue;
    const std::string scale = in.string(c, "scale", key);
    if (scale != "log1p" && scale != "linear")
      in.complain(key, fmt::format("has the unknown scale '{}'", scale.substr(0, 40)));
    scales.push_back(scale == "log1p" ? Normaliser::Scale::Log : Normaliser::Scale::Linear);
    means.push_back(in.number(c.value("mean", Json()), key));
    deviations.push_back(in.number(c.value("deviation", Json()), key));
    if (deviations.back() <= 0)
      in.complain(key, fmt::format("has a deviation of column '{}' that is not positive", t.columns.back().name));
  }
  if (scales.empty()) return t;
  if (scales.size() != t.columns.size())
    return in.complain(key, fmt::format("normalises only some columns of '{}'", t.name)), t;
  t.normaliser = Normaliser::restore(t.columns, std::move(scales), std::move(means), std::move(deviations));
  return t;
}

Result<Checkpoint> interpret(Tensors file, Diagnostics& diags) {
  Reader in(file, diags);
  Checkpoint c;
  c.model = in.text("perfc.model");
  for (const Json& t : in.json("perfc.tables", Json::value_t::array)) c.tables.push_back(read_table(t, in));
  for (const Json& word : in.json("perfc.vocabulary", Json::value_t::array)) {
    if (word.is_string()) c.vocabulary.push_back(word.get<std::string>());
    else in.complain("perfc.vocabulary", "wants strings");
  }
  for (const Json& o : in.json("perfc.outputs", Json::value_t::array)) {
    c.outputs.push_back({in.string(o, "name", "perfc.outputs"), in.string(o, "unit", "perfc.outputs"), 1});
    if (in.good()) c.outputs.back().factor = in.number(o.value("factor", Json()), "perfc.outputs");
  }
  const Json settings = in.json("perfc.settings", Json::value_t::object);
  for (const auto& [key, value] : settings.items()) c.settings[key] = in.number(value, "perfc.settings");
  const Json provenance = in.json("perfc.provenance", Json::value_t::object);
  for (const auto& [key, value] : provenance.items())
    c.provenance[key] = in.string(provenance, key.c_str(), "perfc.provenance");
  if (!in.good()) return Failure{};
  c.tensors = std::move(file.tensors);
  return c;
}

}  // namespace

std::string write_checkpoint(const Checkpoint& c) {
  Json tables = Json::array(), outputs = Json::array();
  for (const FeatureTable& t : c.tables) tables.push_back(to_json(t));
  for (const OutputColumn& o : c.outputs) outputs.push_back({{"name", o.name}, {"unit", o.unit}, {"factor", o.factor}});
  const auto text = [](const Json& j) { return j.dump(-1, ' ', false, Json::error_handler_t::replace); };
  return write_safetensors(
      {.metadata = {{"perfc.model", c.model},
                    {"perfc.tables", text(tables)},
                    {"perfc.vocabulary", text(Json(c.vocabulary))},
                    {"perfc.outputs", text(outputs)},
                    {"perfc.settings", text(c.settings.empty() ? Json::object() : Json(c.settings))},
                    {"perfc.provenance", text(c.provenance.empty() ? Json::object() : Json(c.provenance))}},
       .tensors = c.tensors});
}

Result<Checkpoint> read_checkpoint(const std::string& path, Diagnostics& diags) {
  Result<Tensors> file = read_safetensors(path, diags);
  if (!file) return Failure{};
  return interpret(std::move(*file), diags);
}

Result<Checkpoint> parse_checkpoint(std::string_view bytes, Diagnostics& diags) {
  Result<Tensors> file = parse_safetensors(bytes, diags);
  if (!file) return Failure{};
  return interpret(std::move(*file), diags);
}

Result<double> number_setting(const Checkpoint& c, const std::string& key, double lowest, double highest,
                              Diagnostics& diags) {
  const auto found = c.settings.find(key);
  if (found == c.settings.end() || !(found->second >= lowest && found->second <= highest))
    return diags.error(fmt::format("checkpoint: setting '{}' is not a number from {} to {}", key, lowest, highest));
  return found->second;
}

Status check_tables(const Checkpoint& c, std::span<const FeatureTable> expected, Diagnostics& diags) {
  if (c.tables.size() != expected.size()) {
    return diags.error(fmt::format("checkpoint: {} feature tables, {} expected", c.tables.size(), expected.size()));
  }
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const FeatureTable &ours = expected[t], &theirs = c.tables[t];
    if (ours.name != theirs.name) {
      return diags.error(fmt::format("checkpoint: feature table '{}' where '{}' is expected", theirs.name, ours.name));
    }
    for (std::size_t i = 0; i < std::max(ours.columns.size(), theirs.columns.size()); ++i) {
      const auto show = [i](const std::vector<Column>& all) {
        return i < all.size() ? fmt::format("'{}' ({})", all[i].name, all[i].unit) : std::string("missing");
      };
      const std::string here = show(ours.columns), there = show(theirs.columns);
      if (here != there) {
        return diags.error(fmt::format("{}: column {} is {} here and {} in the checkpoint", ours.name, i, here, there));
      }
    }
  }
  return ok();
}

std::vector<NamedTensor> save(const std::vector<NamedParameter<float>>& parameters) {
  std::vector<NamedTensor> all;
  all.reserve(parameters.size());
  for (const auto& [name, p] : parameters) all.push_back({name, p->kind, p->value});
  return all;
}

Status load(const std::vector<NamedTensor>& tensors, const std::vector<NamedParameter<float>>& parameters,
            Diagnostics& diags) {
  std::map<std::string_view, const NamedTensor*> by_name;
  for (const NamedTensor& t : tensors) by_name[t.name] = &t;
  for (const auto& [name, p] : parameters) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) return diags.error({}, name, "parameter: not in the checkpoint");
    const NamedTensor& t = *found->second;
    if (t.kind != p->kind || !t.value.same_shape(p->value)) {
      return diags.error({}, name,
                         fmt::format("parameter: {}x{} in the checkpoint, {}x{} in the model", t.value.rows(),
                                     t.value.columns(), p->value.rows(), p->value.columns()));
    }
  }
  if (tensors.size() != parameters.size()) {
    for (const auto& [name, p] : parameters) by_name.erase(name);
    return diags.error({}, std::string(by_name.begin()->first), "parameter: in the checkpoint, but not in the model");
  }
  for (const auto& [name, p] : parameters) p->value = by_name[name]->value;
  return ok();
}

}  // namespace perfc
