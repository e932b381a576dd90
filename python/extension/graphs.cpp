/// perfc._perfc.load and what it returns: a graph, read node by node or as columns.
#include <fmt/format.h>

#include <algorithm>

#include "features/schema.h"
#include "ir/dot.h"
#include "ir/infer_context.h"
#include "ir/text/printer.h"
#include "python/extension/arguments.h"
#include "python/extension/array.h"

namespace perfc::python {
namespace {

PyObject* graph_type = nullptr;

/// What a graph and its bodies come from.
struct Loaded {
  Request request;
  Diagnostics diags;
};
struct HeldGraph {
  GraphRef graph;
  std::shared_ptr<const Loaded> from;
};

Ref type_object(const Type& t) {
  Ref shape = none(), dtype = none(), bytes = none();
  if (t.is_tensor()) {
    dtype = object(name(t.dtype()));
    if (t.is_static()) bytes = object(t.bytes());
    if (t.ranked()) {
      shape = Ref(PyTuple_New(static_cast<Py_ssize_t>(t.rank())));
      for (std::size_t d = 0; d < t.rank(); ++d) {
        const Dim& dim = t.shape()[d];
        Ref extent = dim.known() ? object(dim.value()) : dim.symbolic() ? object(dim.symbol_name()) : none();
        check(PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(d), extent.release()));
      }
    }
  }
  return tuple_of(to_string(t), std::move(dtype), std::move(shape), std::move(bytes));
}

Ref data_object(const DataRef& data) {
  if (!data) return none();
  if (const auto* floats = data->floats()) return list_of(*floats);
  if (const auto* strings = data->strings()) return list_of(*strings);
  Ref list(PyList_New(0));
  for (const SymInt& i : *data->ints()) {
    const Ref value = i.known() ? object(i.value()) : i.symbolic() ? object(i.symbol_name()) : none();
    check(PyList_Append(list.get(), value.get()));
  }
  return list;
}

/// A literal is a pair (type, elements or None), a type the tuple of `type_object`.
Ref attr_object(const Attr& attr) {
  struct Visitor {
    Ref operator()(std::int64_t v) const { return object(v); }
    Ref operator()(double v) const { return object(v); }
    Ref operator()(const std::string& v) const { return object(v); }
    Ref operator()(const std::vector<std::int64_t>& v) const { return list_of(v); }
    Ref operator()(const std::vector<double>& v) const { return list_of(v); }
    Ref operator()(const std::vector<std::string>& v) const { return list_of(v); }
    Ref operator()(const Literal& v) const { return tuple_of(type_object(v.type), data_object(v.data)); }
    Ref operator()(const Type& v) const { return type_object(v); }
  };
  return std::visit(Visitor{}, attr);
}

Ref value_object(ValueId v) { return v ? tuple_of(std::size_t{v.node}, std::size_t{v.result}) : none(); }

Ref values_list(const std::vector<ValueId>& values) {
  Ref list(PyList_New(0));
  for (const ValueId v : values) check(PyList_Append(list.get(), value_object(v).get()));
  return list;
}

PyObject* node(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    const HeldGraph& g = held<HeldGraph>(self);
    Py_ssize_t index = 0;
    if (!PyArg_ParseTuple(arguments, "n", &index)) throw Raised{};
    if (index < 0 || static_cast<std::size_t>(index) >= g.graph->size()) {
      PyErr_SetString(PyExc_IndexError, "no such node");
      throw Raised{};
    }
    const Node& n = g.graph->node(static_cast<NodeId>(index));
    constexpr std::string_view kKinds[] = {"var", "constant", "call"};
    Ref operands(PyList_New(0)), results(PyList_New(0)), attrs(PyDict_New()), regions(PyList_New(0));
    for (const ValueId v : n.operands) check(PyList_Append(operands.get(), value_object(v).get()));
    for (const ResultInfo& r : n.results) check(PyList_Append(results.get(), type_object(r.type).get()));
    for (const auto& [key, attr] : n.attrs)
      check(PyDict_SetItem(attrs.get(), object(key).get(), attr_object(attr).get()));
    for (const GraphRef& r : n.regions)
      check(PyList_Append(regions.get(), make_holder(graph_type, HeldGraph{r, g.from}).get()));
    return tuple_of(kKinds[static_cast<std::size_t>(n.kind)],
                    n.kind == NodeKind::Call ? object(def(n.op).name) : none(), n.name, std::move(operands),
                    std::move(results), std::move(attrs), std::move(regions), n.loc.line, n.loc.column, n.loc.node,
                    n.loc.offset);
  });
}

PyObject* about(PyObject* self, PyObject*) {
  return guarded([&] {
    const Graph& g = *held<HeldGraph>(self).graph;
    return tuple_of(g.name(), g.size(), values_list(g.params()), values_list(g.results()), list_of(g.result_names()));
  });
}

/// All nodes as columns; what a node has several of stands in one, between two offsets.
struct Columns {
  std::vector<std::uint8_t> kind;
  std::vector<std::int32_t> op, operands, dtype, rank;
  std::vector<std::int64_t> operand_offsets{0}, result_offsets{0}, dim_offsets{0}, dims;
  std::vector<double> bytes, macs, flops;
  std::vector<std::string_view> ops, dtypes;
};

std::int32_t index_in(std::vector<std::string_view>& names, std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<std::int32_t>(at - names.begin());
  names.push_back(name);
  return static_cast<std::int32_t>(names.size() - 1);
}

void add_result(Columns& c, const Type& t) {
  c.dtype.push_back(t.is_tensor() ? index_in(c.dtypes, name(t.dtype())) : -1);
  c.rank.push_back(t.is_tensor() && t.ranked() ? static_cast<std::int32_t>(t.rank()) : -1);
  c.bytes.push_back(t.is_static() ? t.bytes() : 0);
  if (t.is_tensor() && t.ranked())
    for (const Dim& d : t.shape()) c.dims.push_back(d.known() ? d.value() : -1);
  c.dim_offsets.push_back(static_cast<std::int64_t>(c.dims.size()));
}

std::shared_ptr<const Columns> columns_of(const Graph& graph) {
  const auto c = std::make_shared<Columns>();
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& n = graph.node(id);
    const bool call = n.kind == NodeKind::Call;
    c->kind.push_back(static_cast<std::uint8_t>(n.kind));
    c->op.push_back(call ? index_in(c->ops, def(n.op).name) : -1);
    for (const ValueId v : n.operands) {
      c->operands.push_back(v ? static_cast<std::int32_t>(v.node) : -1);
      c->operands.push_back(v ? static_cast<std::int32_t>(v.result) : -1);
    }
    c->operand_offsets.push_back(static_cast<std::int64_t>(c->operands.size() / 2));
    for (const ResultInfo& r : n.results) add_result(*c, r.type);
    c->result_offsets.push_back(static_cast<std::int64_t>(c->dtype.size()));
    const OpCost cost = call ? op_cost(graph, id) : OpCost{};
    c->macs.push_back(cost.macs);
    c->flops.push_back(2 * cost.macs + cost.flops);
  }
  return c;
}

PyObject* columns(PyObject* self, PyObject*) {
  return guarded([&] {
    const std::shared_ptr<const Columns> c = columns_of(*held<HeldGraph>(self).graph);
    Ref out(PyDict_New());
    set(out, "ops", list_of(c->ops));
    set(out, "dtypes", list_of(c->dtypes));
    set(out, "kind", array_of(c, c->kind));
    set(out, "op", array_of(c, c->op));
    set(out, "operands", array_of(c, c->operands, 2));
    set(out, "operand_offsets", array_of(c, c->operand_offsets));
    set(out, "result_offsets", array_of(c, c->result_offsets));
    set(out, "dtype", array_of(c, c->dtype));
    set(out, "rank", array_of(c, c->rank));
    set(out, "dims", array_of(c, c->dims));
    set(out, "dim_offsets", array_of(c, c->dim_offsets));
    set(out, "bytes", array_of(c, c->bytes));
    set(out, "macs", array_of(c, c->macs));
    set(out, "flops", array_of(c, c->flops));
    return out;
  });
}

/// The columns of networks, by row: what `--emit features`, `adjacency` and `static` print.
struct Features {
  NodeFeatures rows;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  std::vector<double> whole;
  std::vector<std::string> op, name;
};

PyObject* features(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    const HeldGraph& g = held<HeldGraph>(self);
    const char* schema_name = nullptr;
    if (!PyArg_ParseTuple(arguments, "s", &schema_name)) throw Raised{};
    const NodeSchema* schema = find_schema(schema_name);
    if (!schema) {
      std::vector<std::string_view> names;
      for (const NodeSchema& s : schemas()) names.push_back(s.name);
      Diagnostics usage;
      usage.error(fmt::format("schema: '{}' is none of {}", schema_name, fmt::join(names, ", ")));
      raise(Wrong::Usage, usage);
    }
    const auto f = std::make_shared<Features>();
    Diagnostics diags(g.from->request.model);
    bool good = false;
    {
      const WithoutGil others;
      if (const auto graph = run_passes(*g.graph, {"filter-operators"}, {}, {}, diags)) {
        f->rows = extract(*graph, *schema);
        f->edges = data_flow_edges(*graph);
        f->whole = dippm_static(*graph);
        for (const NodeId id : f->rows.nodes) {
          f->op.emplace_back(def(graph->node(id).op).name);
          f->name.push_back(graph->node(id).name);
        }
        good = true;
      }
    }
    if (!good) raise(Wrong::Model, diags);
    Ref about(PyList_New(0)), about_whole(PyList_New(0));
    for (const Column& c : schema->columns())
      check(PyList_Append(about.get(), tuple_of(c.name, c.unit, c.meaning).get()));
    for (const Column& c : dippm_static_columns())
      check(PyList_Append(about_whole.get(), tuple_of(c.name, c.unit, c.meaning).get()));
    static_assert(sizeof(f->edges[0]) == 2 * sizeof(std::int64_t));
    Ref out(PyDict_New());
    set(out, "columns", std::move(about));
    set(out, "static_columns", std::move(about_whole));
    set(out, "op", list_of(f->op));
    set(out, "name", list_of(f->name));
    Array matrix = array_of(f, f->rows.matrix.values);
    matrix.shape = {static_cast<Py_ssize_t>(f->rows.matrix.rows), static_cast<Py_ssize_t>(f->rows.matrix.columns)};
    set(out, "matrix", std::move(matrix));
    set(out, "edges", Array{f, f->edges.data(), {static_cast<Py_ssize_t>(f->edges.size()), 2}, "<i8"});
    set(out, "static", array_of(f, f->whole));
    return out;
  });
}

PyObject* totals(PyObject* self, PyObject*) {
  return guarded([&] {
    const HeldGraph& g = held<HeldGraph>(self);
    const StaticFeatures f = static_features(*g.graph, g.from->request);
    Ref out(PyDict_New());
    set(out, "macs", f.macs);
    set(out, "flops", f.flops);
    set(out, "params", f.params);
    set(out, "weight_mib", f.weight_mib);
    set(out, "nodes", f.nodes);
    set(out, "conv2d", f.conv2d);
    set(out, "dense", f.dense);
    set(out, "relu", f.relu);
    return out;
  });
}

PyObject* graph_text(PyObject* self, PyObject* arguments) {
  return guarded([&] {
    const char* form = nullptr;
    if (!PyArg_ParseTuple(arguments, "s", &form)) throw Raised{};
    const Graph& g = *held<HeldGraph>(self).graph;
    return object(std::string_view(form) == "dot" ? print_dot(g) : print_graph(g));
  });
}

PyObject* graph_messages(PyObject* self, PyObject*) {
  return guarded([&] { return diagnostics_list(held<HeldGraph>(self).from->diags); });
}

PyMethodDef kGraphMethods[] = {
    {"about", about, METH_NOARGS, "Name, number of nodes, params, results, names of results."},
    {"node", node, METH_VARARGS, "A node as a tuple: index."},
    {"columns", columns, METH_NOARGS, "All nodes as columns."},
    {"features", features, METH_VARARGS, "What networks see of it: schema."},
    {"totals", totals, METH_NOARGS, "Counts of the whole graph."},
    {"text", graph_text, METH_VARARGS, "As \"pir\" or \"dot\"."},
    {"diagnostics", graph_messages, METH_NOARGS, "What was said while it was read."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot kGraphSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate<HeldGraph>)},
                             {Py_tp_new, reinterpret_cast<void*>(no_constructor)},
                             {Py_tp_methods, kGraphMethods},
                             {0, nullptr}};
PyType_Spec kGraphSpec = {"perfc._perfc.Graph", sizeof(Holder<HeldGraph>), 0, Py_TPFLAGS_DEFAULT, kGraphSlots};

Result<Source> open_source(const ModelArgument& model, Diagnostics& diags) {
  if (model.bytes) return Source::from_bytes(model.name, *model.bytes);
  return Source::open_model(*model.path, diags);
}

/// Imports and runs these passes and no others.
Result<Graph> with_passes(const ModelArgument& model, const Request& request, const std::vector<std::string>& passes,
                          Diagnostics& diags) {
  auto source = open_source(model, diags);
  if (!source) return Failure{};
  ImportOptions import = request.import;
  import.open_batch = request.batch;
  auto graph = import_model(*source, import, diags);
  if (!graph) return Failure{};
  const PassOptions options{.batch = request.batch.value_or(0),
                            .batch_axes = request.import.batch_axes,
                            .trip_counts = request.trip_counts,
                            .dynamic = request.dynamic,
                            .bounds = request.bounds,
                            .written_by = graph->written_by().value_or(frontend_of(*source)->written_by),
                            .mode = graph_mode(request.exec)};
  return run_passes(std::move(*graph), passes, options, request.trace, diags);
}

/// Raises UsageError for names of no pass.
std::vector<std::string> pass_names(PyObject* list) {
  std::vector<std::string> known, out = words_of(list);
  for (const PassDef& p : pass_table()) known.emplace_back(p.name);
  Diagnostics usage;
  for (const std::string& pass : out) {
    if (std::ranges::find(known, pass) != known.end()) continue;
    const std::string near = did_you_mean(pass, known);
    usage.error(fmt::format("passes: '{}' is none of {}{}", pass, fmt::join(known, ", "),
                            near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  }
  if (usage.errors()) raise(Wrong::Usage, usage);
  return out;
}

}  // namespace

PyObject* format_of(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *name = nullptr, *path = nullptr, *bytes = nullptr;
    if (!PyArg_ParseTuple(arguments, "UOO", &name, &path, &bytes)) throw Raised{};
    const ModelArgument model = model_argument(name, path, bytes);
    Diagnostics diags(model.name);
    const auto source = open_source(model, diags);
    if (!source) raise(Wrong::Model, diags);
    const FrontendDef* frontend = frontend_of(*source);
    return object(frontend ? frontend->name : std::string_view());
  });
}

PyObject* load(PyObject*, PyObject* arguments) {
  return guarded([&] {
    PyObject *name = nullptr, *path = nullptr, *bytes = nullptr, *options = nullptr, *passes = nullptr;
    if (!PyArg_ParseTuple(arguments, "UOOO!O", &name, &path, &bytes, &PyDict_Type, &options, &passes)) throw Raised{};
    const ModelArgument model = model_argument(name, path, bytes);
    PredictOptions o;
    read_options(options, predict_options(o));
    const auto loaded = std::make_shared<Loaded>();
    loaded->request = request_of(o, Batches::One);
    loaded->request.model = model.name;
    loaded->diags = Diagnostics(model.name);
    std::optional<std::vector<std::string>> named;
    if (passes != Py_None) named = pass_names(passes);
    Result<Graph> graph = Failure{};
    {
      const WithoutGil others;
      if (named) {
        graph = with_passes(model, loaded->request, *named, loaded->diags);
      } else if (auto file = open_model(model, loaded->request, loaded->diags)) {
        graph = file->at(loaded->request, loaded->diags);
      }
    }
    if (!graph) raise(Wrong::Model, loaded->diags);
    return make_holder(graph_type, HeldGraph{std::make_shared<const Graph>(std::move(*graph)), loaded});
  });
}

void add_graphs(PyObject* module) { graph_type = add_type(module, kGraphSpec, "Graph"); }

}  // namespace perfc::python
