/// Rules for gather, scatter and embeddings.
#include <algorithm>

#include "ir/ops/eval_helpers.h"
#include "ir/ops/rule_helpers.h"
#include "ir/ops/rules.h"

namespace perfc::rules {
namespace {

/// Position in [0, n) of a known index that may count from the end, else −1.
std::int64_t position(const SymInt& index, std::int64_t n) {
  if (!index.known() || index.value() < -n || index.value() >= n) return -1;
  return index.value() < 0 ? index.value() + n : index.value();
}

Status require_reduction(const InferContext& c) {
  const std::string_view r = c.attrs.string_or("reduction", "none");
  if (r == "none" || r == "add" || r == "mul" || r == "max" || r == "min") return ok();
  return c.error("unknown reduction '{}'", r);
}

/// Shape of data with its axis replaced by the dims of indices; null when a rank is unknown.
Result<std::optional<Shape>> taken_shape(const InferContext& c, std::int64_t axis_attr) {
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_dtype(c, 1, "indices", is_index, "int32 or int64")) {
    return Failure{};
  }
  if (!ranked(c, 0)) return std::optional<Shape>{};
  const Shape& data = c.type(0).shape();
  const auto axis = normalize_axis(c, axis_attr, data.size());
  if (!axis) return Failure{};
  if (!ranked(c, 1)) return std::optional<Shape>{};
  const Shape& indices = c.type(1).shape();
  const auto at = data.begin() + static_cast<std::ptrdiff_t>(*axis);
  Shape shape(data.begin(), at);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), at + 1, data.end());
  return std::optional(std::move(shape));
}

Type tensor_or_unranked(DType dtype, std::optional<Shape> shape) {
  return shape ? Type::tensor(dtype, *std::move(shape)) : Type::unranked(dtype);
}

}  // namespace

Status take(InferContext& c) {
  const auto axis = int_attr(c, "axis", 0);
  if (!axis) return Failure{};
  auto shape = taken_shape(c, *axis);
  if (!shape) return Failure{};
  c.set(0, tensor_or_unranked(c.type(0).dtype(), *std::move(shape)));
  return ok();
}

Status gather_elements(InferContext& c) {
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_dtype(c, 1, "indices", is_index, "int32 or int64")) {
    return Failure{};
  }
  const auto axis = int_attr(c, "axis", 0);
  if (!axis) return Failure{};
  if (ranked(c, 0)) {
    const std::size_t rank = c.type(0).rank();
    if (!normalize_axis(c, *axis, rank) || !require_rank(c, 1, "indices", rank)) return Failure{};
    if (!ranked(c, 1)) {
      c.set(0, Type::tensor(c.type(0).dtype(), unknown_shape(rank)));
      return ok();
    }
  }
  c.set(0, c.type(1).with_dtype(c.type(0).dtype()));
  return ok();
}

Status gather_nd(InferContext& c) {
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_rank(c, 1, "indices", 1, kAnyRank) ||
      !require_dtype(c, 1, "indices", is_index, "int32 or int64")) {
    return Failure{};
  }
  const auto batch_attr = int_attr(c, "batch_dims", 0);
  if (!batch_attr) return Failure{};
  const DType dtype = c.type(0).dtype();
  if (!ranked(c, 0) || !ranked(c, 1)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  const Shape& data = c.type(0).shape();
  const Shape& indices = c.type(1).shape();
  if (*batch_attr < 0 || *batch_attr >= static_cast<std::int64_t>(std::min(data.size(), indices.size()))) {
    return c.error("batch_dims {} is out of range for ranks {} and {}", *batch_attr, data.size(), indices.size());
  }
  const auto batch = static_cast<std::size_t>(*batch_attr);
  const Dim& depth = indices.back();
  if (!depth.known()) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  if (depth.value() < 1 || depth.value() > static_cast<std::int64_t>(data.size() - batch)) {
    return c.error("last dim of indices must be from 1 to {}, got {}", data.size() - batch, depth.value());
  }
  Shape shape(indices.begin(), indices.end() - 1);
  for (std::size_t a = 0; a < batch; ++a) {
    const auto d = same_dim(c, data[a], indices[a], "batch dims of data and indices");
    if (!d) return Failure{};
    shape[a] = *d;
  }
  shape.insert(shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch) + depth.value(), data.end());
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

Status compress(InferContext& c) {
  if (!require_rank(c, 0, "input", 1, kAnyRank) || !require_dtype(c, 1, "condition", is_bool, "bool") ||
      !require_rank(c, 1, "condition", 1)) {
    return Failure{};
  }
  const DType dtype = c.type(0).dtype();
  Dim kept;
  if (const auto condition = c.known_ints(1)) {
    kept =
        static_cast<std::int64_t>(std::count_if(condition->begin(), condition->end(), [](auto v) { return v != 0; }));
  }
  if (!c.attrs.has("axis")) {
    c.set(0, Type::tensor(dtype, {kept}));
    return ok();
  }
  const auto attr = int_attr(c, "axis");
  if (!attr) return Failure{};
  if (!ranked(c, 0)) {
    c.set(0, Type::unranked(dtype));
    return ok();
  }
  Shape shape = c.type(0).shape();
  const auto axis = normalize_axis(c, *attr, shape.size());
  if (!axis) return Failure{};
  shape[*axis] = kept;
  c.set(0, Type::tensor(dtype, std::move(shape)));
  return ok();
}

/// Operands as in aten::embedding_bag: weight (rows, width), indices (n) or
/// (bags, n), offsets (bags), per-sample weights. Results: bags (bags, width);
/// then the bag of each index, the size of each bag, the rows of each maximum.
Status embedding_bag(InferContext& c) {
  if (!require_rank(c, 0, "weight", 2) || !require_rank(c, 1, "indices", 1, 2) ||
      !require_dtype(c, 1, "indices", is_index, "int32 or int64")) {
    return Failure{};
  }
  if (c.has(2) && (!require_rank(c, 2, "offsets", 1) || !require_dtype(c, 2, "offsets", is_index, "int32 or int64"))) {
    return Failure{};
  }
  const auto include_last = flag_attr(c, "include_last_offset", false);
  if (!include_last) return Failure{};
  Dim bags, entries;
  if (ranked(c, 1)) {
    const Shape& indices = c.type(1).shape();
    entries = product(indices.data(), indices.data() + indices.size());
    if (indices.size() == 2) {
      bags = indices[0];
    } else if (!c.has(2)) {
      return c.error("rank-1 indices need offsets");
    }
  }
  if (c.has(2) && ranked(c, 2)) bags = c.type(2).shape()[0] - (*include_last ? 1 : 0);
  const Dim width = ranked(c, 0) ? c.type(0).shape()[1] : Dim::unknown();
  c.set(0, Type::tensor(c.type(0).dtype(), {bags, width}));
  if (c.results() > 1) c.set(1, Type::tensor(DType::Int64, {entries}));
  if (c.results() > 2) c.set(2, Type::tensor(DType::Int64, {bags}));
  if (c.results() > 3) {
    const bool max = c.attrs.string_or("mode", "sum") == "max";
    c.set(3, Type::tensor(DType::Int64, max ? Shape{bags, width} : Shape{bags}));
  }
  return ok();
}

/// Rows of block-quantised data, dequantised. uint8 data hold 8 / bits values
/// per byte along the last axis.
Status gather_quantized(InferContext& c) {
  const auto axis = int_attr(c, "gather_axis", 0);
  const auto width = int_attr(c, "bits", 4);
  if (!axis || !width || !require_rank(c, 2, "scales", 1, kAnyRank)) return Failure{};
  if (*width != 2 && *width != 4 && *width != 8) return c.error("bits must be 2, 4 or 8, got {}", *width);
  auto shape = taken_shape(c, *axis);
  if (!shape) return Failure{};
  if (*shape && c.type(0).dtype() == DType::UInt8) (*shape)->back() = (*shape)->back() * (8 / *width);
  c.set(0, tensor_or_unranked(c.type(2).dtype(), *std::move(shape)));
  return ok();
}

Status scatter_elements(InferContext& c) {
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_dtype(c, 1, "indices", is_index, "int32 or int64") ||
      !require_tensor(c, 2, "updates") || !require_same_dtype(c, 0, 2) || !require_reduction(c)) {
    return Failure{};
  }
  const auto axis = int_attr(c, "axis", 0);
  if (!axis) return Failure{};
  if (ranked(c, 0)) {
    const std::size_t rank = c.type(0).rank();
    if (!normalize_axis(c, *axis, rank) || !require_rank(c, 1, "indices", rank) ||
        !require_rank(c, 2, "updates", rank)) {
      return Failure{};
    }
  }
  if (ranked(c, 1) && ranked(c, 2)) {
    if (!require_rank(c, 2, "updates", c.type(1).rank())) return Failure{};
    for (std::size_t a = 0; a < c.type(1).rank(); ++a) {
      if (!same_dim(c, c.type(1).shape()[a], c.type(2).shape()[a], fmt::format("dims {} of indices and updates", a))) {
        return Failure{};
      }
    }
  }
  c.set(0, c.type(0));
  return ok();
}

Status scatter_nd(InferContext& c) {
  if (!require_rank(c, 0, "data", 1, kAnyRank) || !require_rank(c, 1, "indices", 1, kAnyRank) ||
      !require_dtype(c, 1, "indices", is_index, "int32 or int64") || !require_tensor(c, 2, "updates") ||
      !require_same_dtype(c, 0, 2) || !require_reduction(c)) {
    return Failure{};
  }
  if (ranked(c, 0) && ranked(c, 1) && c.type(1).shape().back().known()) {
    const Shape& data = c.type(0).shape();
    const Shape& indices = c.type(1).shape();
    const std::int64_t depth = indices.back().value();
    if (depth > static_cast<std::int64_t>(data.size())) {
      return c.error("indices address {} axes of data of rank {}", depth, data.size());
    }
    Shape expected(indices.begin(), indices.end() - 1);
    expected.insert(expected.end(), data.begin() + depth, data.end());
    if (ranked(c, 2)) {
      if (!require_rank(c, 2, "updates", expected.size())) return Failure{};
      for (std::size_t a = 0; a < expected.size(); ++a) {
        if (!same_dim(c, c.type(2).shape()[a], expected[a],
                      fmt::format("dim {} of updates and what indices address", a))) {
          return Failure{};
        }
      }
    }
  }
  c.set(0, c.type(0));
  return ok();
}

/// A cache with `update` written along `axis` (ONNX TensorScatter).
Status tensor_scatter(InferContext& c) {
  if (!require_rank(c, 0, "past_cache", 2, kAnyRank) || !require_tensor(c, 1, "update") ||
      !require_same_dtype(c, 0, 1)) {
    return Failure{};
  }
  if (c.has(2) &&
      (!require_dtype(c, 2, "write_indices", is_int64, "int64") || !require_rank(c, 2, "write_indices", 1))) {
    return Failure{};
  }
  const std::string_view mode = c.attrs.string_or("mode", "linear");
  if (mode != "linear" && mode != "circular") return c.error("unknown mode '{}'", mode);
  const auto attr = int_attr(c, "axis", -2);
  if (!attr) return Failure{};
  if (ranked(c, 0)) {
    const Shape& cache = c.type(0).shape();
    const auto axis = normalize_axis(c, *attr, cache.size());
    if (!axis || !require_rank(c, 1, "update", cache.size())) return Failure{};
    if (*axis == 0) return c.error("axis 0 is the batch");
    for (std::size_t a = 0; ranked(c, 1) && a < cache.size(); ++a) {
      const Dim& d = c.type(1).shape()[a];
      if (a != *axis) {
        if (!same_dim(c, d, cache[a], fmt::format("dims {} of update and past_cache", a))) return Failure{};
      } else if (d.known() && cache[a].known() && d.value() > cache[a].value()) {
        return c.error("update of {} entries exceeds the cache of {}", d.value(), cache[a].value());
      }
    }
  }
  c.set(0, c.type(0));
  return ok();
}

void eval_take(InferContext& c) {
  const auto in = extents(c.type(0));
  const auto out = extents(c.result(0));
  const auto* indices = ints(c, 1);
  if (!c.data(0) || !in || !out || !indices) return;
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), in->size());
  if (!axis) return;
  const Extents stride = strides(*in);
  std::vector<std::vector<std::int64_t>> offsets;
  for (std::size_t a = 0; a < in->size(); ++a) {
    auto& of_axis = offsets.emplace_back();
    if (a == *axis) {
      for (const SymInt& index : *indices) {
        const std::int64_t at = position(index, (*in)[a]);
        of_axis.push_back(at < 0 ? -1 : at * stride[a]);
      }
    } else {
      for (std::int64_t k = 0; k < (*in)[a]; ++k) of_axis.push_back(k * stride[a]);
    }
  }
  const Data unknown{std::vector<SymInt>{SymInt::unknown()}};
  set_mapped(c, 0, 0, element_map(offsets), &unknown);
}

void eval_gather_elements(InferContext& c) {
  const auto in = extents(c.type(0));
  const auto out = extents(c.result(0));
  const auto* indices = ints(c, 1);
  if (!c.data(0) || !in || !out || !indices || in->size() != out->size()) return;
  const auto axis = normalize_axis(c, c.attrs.int_or("axis", 0), in->size());
  if (!axis) return;
  const auto n = static_cast<std::size_t>(count(*out));
  if (indices->size() != n) return;
  const Extents from = strides(*in);
  const Extents to = strides(*out);
  std::vector<std::int64_t> map(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t a = 0; a < out->size() && map[k] >= 0; ++a) {
      const std::int64_t place = static_cast<std::int64_t>(k) / to[a] % (*out)[a];
      const std::int64_t at = position(a == *axis ? (*indices)[k] : SymInt(place), (*in)[a]);
      map[k] = at < 0 ? -1 : map[k] + at * from[a];
    }
  }
  const Data unknown{std::vector<SymInt>{SymInt::unknown()}};
  set_mapped(c, 0, 0, map, &unknown);
}

void eval_scatter_nd(InferContext& c) {
  const auto in = extents(c.type(0));
  const auto index_extents = extents(c.type(1));
  const auto indices = c.known_ints(1);
  if (!in || !index_extents || index_extents->empty() || !indices || !(c.data(0) || c.data(2))) return;
  if (c.attrs.string_or("reduction", "none") != "none") return;
  auto data = int_contents(c, 0);
  const auto updates = int_contents(c, 2);
  if (!data || !updates) return;
  const auto depth = static_cast<std::size_t>(index_extents->back());
  if (depth == 0 || indices->size() % depth != 0) return;
  const Extents stride = strides(*in);
  const std::size_t slices = indices->size() / depth;
  const auto run =
      static_cast<std::size_t>(count(Extents(in->begin() + static_cast<std::ptrdiff_t>(depth), in->end())));
  if (updates->size() != slices * run) return;
  for (std::size_t s = 0; s < slices; ++s) {
    std::int64_t base = 0;
    for (std::size_t a = 0; a < depth; ++a) {
      const std::int64_t at = position((*indices)[s * depth + a], (*in)[a]);
      if (at < 0) return;
      base += at * stride[a];
    }
    std::copy_n(updates->begin() + static_cast<std::ptrdiff_t>(s * run), run, data->begin() + base);
  }
  set_ints(c, 0, *std::move(data));
}

void gather_copy_cost(const CostContext& c, OpCost& cost) {
  // Reads the rows it writes and the indices, not the whole table.
  cost.flops = 0;
  const double packed = static_cast<double>(bits(c.type(0).dtype())) / 8;
  const double rows =
      c.node().is(op("qnn.gather"))
          ? c.result_elements(0) * std::min(packed, static_cast<double>(c.attrs().int_or("bits", 4)) / 8)
          : cost.bytes_written;
  cost.bytes_read = rows + c.type(1).bytes();
  cost.weight_bytes = (c.constant(0) ? rows : 0) + (c.constant(1) ? c.type(1).bytes() : 0);
}

void embedding_bag_cost(const CostContext& c, OpCost& cost) {
  // One addition per element of every row read; a weighted bag multiplies too.
  const double read = c.elements(1) * c.dim(0, 1);
  const double rows = byte_size(c.type(0).dtype(), read);
  cost.flops = (c.has(3) ? 2 : 1) * read;
  cost.bytes_read = rows + c.type(1).bytes() + c.type(2).bytes() + c.type(3).bytes();
  cost.weight_bytes = c.constant(0) ? rows : 0;
}

void scatter_cost(const CostContext& c, OpCost& cost) {
  // Copies the data, then writes the updates over it; a reduction reads and combines.
  const std::size_t updates = c.node().is(op("tensor_scatter")) ? 1 : 2;
  const bool reduces = c.attrs().string_or("reduction", "none") != "none";
  cost.flops = reduces ? c.elements(updates) : 0;
  cost.bytes_read += reduces ? c.type(updates).bytes() : 0;
  cost.bytes_written += c.type(updates).bytes();
}

}  // namespace perfc::rules
