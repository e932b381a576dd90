#include "options/predict_options.h"

#include <fmt/format.h>

#include <unistd.h>

#include <charconv>

#include "ir/support/text.h"

namespace perfc {
namespace {

constexpr std::int64_t kLargestBatch = std::int64_t{1} << 31;

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return v;
}

/// `value` among `choices`, or a message with the nearest.
bool choose(std::string_view option, const std::string& value, const std::vector<std::string>& choices,
            Diagnostics& usage) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return true;
  const std::string near = did_you_mean(value, choices);
  usage.error(fmt::format("{}: '{}' is none of {}{}", option, value, fmt::join(choices, ", "),
                          near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
  return false;
}

/// "input=1,3,224,224" or "1,3,224,224" for the only input.
bool parse_shape(const std::string& text, ImportOptions& out, Diagnostics& usage) {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  std::string_view rest = std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1);
  std::vector<std::int64_t> dims;
  for (bool scalar = rest.empty() && equals != std::string::npos; !scalar;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto d = whole(rest.substr(0, comma));
    if (!d || *d < 0) {
      usage.error(fmt::format("--shape: '{}' is not INPUT=d0,d1,… with whole numbers, or INPUT= of a scalar", text));
      return false;
    }
    dims.push_back(*d);
    if (comma == rest.size()) break;
    rest.remove_prefix(comma + 1);
  }
  out.shapes.emplace_back(name, std::move(dims));
  return true;
}

/// "NAME=8" of an option into its list. `form`: how the message writes it.
bool parse_extent(std::string_view option, std::string_view form, const std::string& text,
                  std::vector<std::pair<std::string, std::int64_t>>& out, Diagnostics& usage) {
  const std::size_t equals = text.rfind('=');
  const auto value = equals == std::string::npos ? std::nullopt : whole(std::string_view(text).substr(equals + 1));
  if (!value || *value < 0 || equals == 0) {
    usage.error(fmt::format("{}: '{}' is not {} with a whole number", option, text, form));
    return false;
  }
  out.emplace_back(text.substr(0, equals), *value);
  return true;
}

/// "input=1", "all=1", "input=-1", "input=none", or "1" for the only input.
bool parse_batch_axis(const std::string& text, ImportOptions& out, Diagnostics& usage) {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  const std::string word = text.substr(equals == std::string::npos ? 0 : equals + 1);
  const auto axis = whole(word);
  if ((!axis && word != "none") || equals == 0) {
    usage.error(fmt::format("--batch-axis: '{}' is not INPUT=AXIS with a whole number or none", text));
    return false;
  }
  out.batch_axes.push_back({name, axis});
  return true;
}

/// "input=16000", "input=1,2,3", "input=true": which of them fit is known when the input's type is.
bool parse_value(const std::string& text, ImportOptions& out, Diagnostics& usage) {
  const std::size_t equals = text.rfind('=');
  std::vector<std::string> words;
  std::string_view rest = equals == std::string::npos ? std::string_view{} : std::string_view(text).substr(equals + 1);
  const bool trailing = rest.ends_with(',');
  while (!rest.empty()) words.emplace_back(next_word(rest, ','));
  const bool gaps = trailing || std::ranges::any_of(words, [](const std::string& w) { return w.empty(); });
  if (words.empty() || gaps || equals == 0) {
    usage.error(fmt::format("--value: '{}' is not INPUT=v0,v1,… with numbers, true or false", text));
    return false;
  }
  out.values.emplace_back(text.substr(0, equals), std::move(words));
  return true;
}

/// A name, or a file: what is in it is looked at later.
bool is_predictor(const PredictOptions& o, Diagnostics& usage) {
  const bool file = !o.names_no_files && ::access(o.predictor.c_str(), F_OK) == 0;
  return file || choose("--predictor", o.predictor, {"default", "whitebox"}, usage);
}

/// "decoder=20", or "20" for every loop.
bool parse_trip_count(const std::string& text, Request& out, Diagnostics& usage) {
  const std::size_t equals = text.rfind('=');
  const auto rounds = whole(std::string_view(text).substr(equals == std::string::npos ? 0 : equals + 1));
  if (!rounds || *rounds < 0 || equals == 0) {
    usage.error(fmt::format("--trip-count: '{}' is not LOOP=N or N with a whole number", text));
    return false;
  }
  out.trip_counts.emplace_back(text.substr(0, equals == std::string::npos ? 0 : equals), *rounds);
  return true;
}

/// A batch is said once.
bool agree_on_batch(const std::vector<std::optional<std::int64_t>>& batches, const ImportOptions& import,
                    Diagnostics& usage) {
  for (const auto& [name, value] : import.dims) {
    for (const auto& batch : batches) {
      if (!batch || *batch == value || !names_batch(name)) continue;
      usage.error(fmt::format("--batch {} and --dim {}={} differ; give one of them", *batch, name, value));
      return false;
    }
  }
  return true;
}

const RuntimeDef* runtime_of(const PredictOptions& o, Diagnostics& usage) {
  std::vector<std::string> names;
  for (const RuntimeDef& r : runtime_table()) names.emplace_back(r.name);
  if (!o.runtime.empty() && !choose("--runtime", o.runtime, names, usage)) return nullptr;
  if (!o.mode.empty() && !choose("--mode", o.mode, {"eager", "compiled"}, usage)) return nullptr;
  const std::string of_mode = o.mode == "compiled" ? "torch-compile" : "pytorch";
  if (o.runtime.empty()) return find_runtime(of_mode);
  if (!o.mode.empty() && o.runtime != of_mode) {
    usage.error(fmt::format("--mode {} is short for --runtime {}, not {}; leave it out", o.mode, of_mode, o.runtime));
    return nullptr;
  }
  return find_runtime(o.runtime);
}

/// What a runtime does not have, with the option that asks for it.
std::string unavailable(const RuntimeDef& runtime, const PredictOptions& o) {
  if (runtime.mlas && !o.dtype.empty() && o.dtype != "fp32" && o.dtype != "default")
    return fmt::format("--dtype {}: it is predicted in float32 alone; leave --dtype out", o.dtype);
  if (!runtime.autocast) {
    if (o.dtype == "fp8") return "--dtype fp8: dense layers in float8 are PyTorch's (torchao); leave out --runtime";
    if (o.dtype == "int8" && !runtime.keeps_eight_bits)
      return "--dtype int8: it runs the width that the file has; quantise the model and predict that file";
    if (o.dtype == "amp") return "--dtype amp is PyTorch's autocast; give fp16";
    if (o.task != "infer") return fmt::format("--task {} is PyTorch's; it runs inference", o.task);
    if (o.norms != "full") return fmt::format("--norms {} is of --dtype amp, which it does not have", o.norms);
    if (o.cudnn_benchmark) return "--cudnn-benchmark is PyTorch's; it always tries its algorithms when it starts";
  }
  if ((runtime.own_layout || runtime.mlas) && !o.layout.empty())
    return "it chooses the layout of each kernel; leave out --layout";
  return {};
}

/// The width that a runtime computes in if nobody says.
std::string dtype_of(const RuntimeDef& runtime, const PredictOptions& o) {
  if (runtime.mlas) return o.dtype.empty() || o.dtype == "default" ? "fp32" : o.dtype;
  if (!o.dtype.empty()) return o.dtype == "default" && runtime.default_tf32 ? "tf32" : o.dtype;
  return runtime.autocast ? "amp" : "fp16";
}

bool set_execution(const PredictOptions& o, ExecConfig& exec, Diagnostics& usage) {
  const RuntimeDef* runtime = runtime_of(o, usage);
  if (!runtime) return false;
  const std::string dtype = dtype_of(*runtime, o);
  if (!choose("--dtype", dtype, {"fp32", "tf32", "amp", "fp16", "bf16", "int8", "fp8", "default"}, usage) ||
      !choose("--layout", o.layout.empty() ? "nchw" : o.layout, {"nchw", "nhwc"}, usage) ||
      !choose("--norms", o.norms, {"full", "half"}, usage) ||
      !choose("--task", o.task, {"infer", "forward", "train"}, usage) ||
      !choose("--pacing", o.pacing.empty() ? "awaited" : o.pacing, {"awaited", "queued"}, usage) ||
      !choose("--optimizer", o.optimizer, {"sgd", "momentum", "adam"}, usage)) {
    return false;
  }
  if (const std::string what = unavailable(*runtime, o); !what.empty()) {
    usage.error(fmt::format("--runtime {}: {}", runtime->name, what));
    return false;
  }
  exec.precision = *find_precision(dtype);
  exec.task = o.task == "infer" ? Task::Infer : o.task == "forward" ? Task::Forward : Task::Train;
  exec.optimizer = o.optimizer == "sgd"        ? Optimizer::Sgd
                   : o.optimizer == "momentum" ? Optimizer::Momentum
                                               : Optimizer::Adam;
  exec.pacing = o.pacing.empty() ? usual_pacing(exec.task) : o.pacing == "queued" ? Pacing::Queued : Pacing::Awaited;
  exec.cudnn_benchmark = o.cudnn_benchmark;
  exec.layout = o.layout == "nhwc" ? Layout::Nhwc : Layout::Nchw;
  exec.norms = o.norms == "full" ? Norms::Full : Norms::Half;
  exec = on_runtime(exec, runtime->id);
  return true;
}

}  // namespace

void add_shape_options(Command& c, PredictOptions& o, Batches batches) {
  c.option("--batch,-b", o.batch,
           batches == Batches::One
               ? "Batch size; also for files exported with a fixed batch [the file's, or 1]"
               : "Batch size, or several, as in 1,8,32, for a table; also for files exported with a fixed batch [the "
                 "file's, or 1]");
  c.option("--shape", o.shapes, "INPUT=d0,d1,…: shape of an input, INPUT= of a scalar (repeatable)");
  c.option("--signature", o.signature, "Signature of a TensorFlow SavedModel [serving_default]");
  c.option("--dim", o.dims, "NAME=VALUE: binds an open dim everywhere (repeatable)");
  c.option(
      "--batch-axis", o.batch_axes,
      "INPUT=AXIS: the dim of an input that is its batch, as 1 of time-major ones, or none; all=AXIS says it of every "
      "input that has such a dim (repeatable) [the first]");
  c.option("--value", o.values,
           "INPUT=v0,v1,…: what an input holds, as a sampling rate, lengths or true; branches and shapes follow "
           "(repeatable)");
}

void add_loop_options(Command& c, PredictOptions& o) {
  c.option("--trip-count", o.trip_counts,
           "LOOP=N: rounds of a loop that ends by what it computes; N alone is for all of them (repeatable)");
}

void add_dynamic_options(Command& c, PredictOptions& o) {
  c.option(
      "--dynamic", o.dynamic,
      fmt::format("What dims that data decides (boxes that a suppression keeps) are taken to be: least, typical or "
                  "upper; refuse leaves them open, and predicts no such model [{}]",
                  o.dynamic));
  c.option(
      "--bound", o.bounds,
      "NODE=N: extent of the dims that data decides of a node, or of a dim by its name, as in u0=100 (repeatable)");
}

void add_setting_options(Command& c, PredictOptions& o, Batches batches) {
  add_shape_options(c, o, batches);
  add_loop_options(c, o);
  add_dynamic_options(c, o);
  add_run_options(c, o);
}

void add_predict_options(Command& c, PredictOptions& o, Batches batches) {
  c.option("models,--model", o.models, "Model files; - reads standard input").required();
  add_setting_options(c, o, batches);
}

void add_execution_options(Command& c, PredictOptions& o) {
  c.option("--device,-d", o.devices,
           "Device or MIG slice, e.g. a100-40gb, rtx4090, a100-40gb:1g.5gb (several: a table) [a100-40gb]")
      .separated_by(',');
  c.option("--device-file", o.device_file, "JSON file with devices of your own, in the format of data/devices.json")
      .that_names(Names::File);
  c.option("--from-nvidia-smi", o.smi_file, "Output of `nvidia-smi -q -x`: predicts for that host's GPUs")
      .that_names(Names::File);
  c.option("--host", o.host,
           "What dispatches to the device: a name of `perfc devices --hosts`, or a file that `python -m perfc.measure "
           "--host` wrote [the device's: server, desktop, …]")
      .that_names(Names::FileOrEntry);
  c.option("--stack", o.stack,
           "Software whose context takes memory: a name of `perfc devices --stacks`, or a file of one [the device's: "
           "pytorch-2, …]")
      .that_names(Names::FileOrEntry);
  c.option(
      "--dtype", o.dtype,
      "fp32, tf32, amp, fp16, bf16, int8, fp8 or default, what the runtime does untouched (PyTorch: float32, TF32 in "
      "convolutions; ONNX Runtime, TensorRT: TF32; all: a model in 16 bits as it is) [the model's where it is in 16 "
      "bits, else amp, or fp16 where there is no AMP]");
  c.option("--runtime", o.runtime,
           "What runs the model: pytorch, torch-compile, cuda-graph (of PyTorch eager), onnxruntime (CUDA), "
           "onnxruntime-cpu, tensorrt or tensorrt-8 (before 8.6) [pytorch]");
  c.option("--mode", o.mode, "eager or compiled: short for --runtime pytorch and torch-compile");
  c.option("--layout", o.layout, "nchw or nhwc: memory layout of convolutions [nchw; TensorRT's own]");
  c.option("--norms", o.norms,
           "full or half: whether AMP computes layer, group and RMS norms in float32, as autocast does, or in 16 bits "
           "(timm's --fast-norm, Apex) [full]");
  c.option("--task", o.task,
           "infer, forward (keeps what a backward pass would need, as PyTorch does without no_grad) or train (a whole "
           "step) [infer]");
  c.option("--optimizer", o.optimizer, "Of a training step: sgd, momentum or adam [adam]");
  c.option("--pacing", o.pacing,
           "awaited: each run is waited for before the next begins, as a service and most benchmarks do; queued: runs "
           "queue up behind each other, as training steps do [awaited; a training step: queued]");
  c.option("--cudnn-benchmark", o.cudnn_benchmark,
           "The run sets torch.backends.cudnn.benchmark: memory with what a monitor sees while cuDNN tries its "
           "algorithms");
  c.option("--predictor", o.predictor,
           "default (the whitebox, corrected by built-in networks), whitebox, or the path of a checkpoint [default]")
      .that_names(Names::FileOrEntry);
  c.option("--opaque", o.opaque, "refuse or warn: what to do with unknown operators [refuse]");
  c.option("--fold-batch-norm", o.fold,
           "on: batch-norms are part of the convolutions before them; off: they run, also those that an exporter "
           "folded; auto: on in compiled mode, for inference [auto]");
}

void add_run_options(Command& c, PredictOptions& o) {
  add_execution_options(c, o);
  c.option("--max-latency", o.max_latency_ms, "Goal for the MIG choice, in ms").must_be(Positive{});
  c.option("--min-throughput", o.min_throughput_per_s, "Goal for the MIG choice: samples per second of all instances")
      .must_be(Positive{});
  c.option("--headroom", o.headroom, "Share of a slice's memory to keep free [0.05]").must_be(RealBetween{0.0, 0.9});
}

Result<std::vector<std::optional<std::int64_t>>> to_batches(const PredictOptions& o, Diagnostics& usage) {
  if (o.batch.empty()) return std::vector<std::optional<std::int64_t>>{std::nullopt};
  std::vector<std::optional<std::int64_t>> out;
  std::string_view rest = o.batch;
  do {
    const std::string_view word = next_word(rest, ',');
    const auto batch = whole(word);
    if (word.empty() || o.batch.ends_with(',')) {
      return usage.error(fmt::format("--batch: '{}' is no list of whole numbers, as 1,8,32 is", o.batch));
    }
    if (!batch || *batch < 1 || *batch > kLargestBatch) {
      return usage.error(fmt::format("--batch: '{}' is not a whole number from 1 to {}", word, kLargestBatch));
    }
    if (std::ranges::find(out, batch) == out.end()) out.push_back(batch);
  } while (!rest.empty());
  return out;
}

Result<Request> to_request(const PredictOptions& o, Batches taken, Diagnostics& usage) {
  Request r;
  const auto batches = to_batches(o, usage);
  if (!batches) return Failure{};
  if (taken == Batches::One && batches->size() > 1) {
    return usage.error(
        fmt::format("--batch: '{}' are several; this takes one (`perfc predict` takes a list)", o.batch));
  }
  r.batch = batches->front();
  for (const std::string& s : o.shapes) {
    if (!parse_shape(s, r.import, usage)) return Failure{};
  }
  for (const std::string& d : o.dims) {
    if (!parse_extent("--dim", "NAME=VALUE", d, r.import.dims, usage)) return Failure{};
  }
  for (const std::string& a : o.batch_axes) {
    if (!parse_batch_axis(a, r.import, usage)) return Failure{};
  }
  for (const std::string& v : o.values) {
    if (!parse_value(v, r.import, usage)) return Failure{};
  }
  for (const std::string& t : o.trip_counts) {
    if (!parse_trip_count(t, r, usage)) return Failure{};
  }
  if (!agree_on_batch(*batches, r.import, usage)) return Failure{};
  for (const std::string& b : o.bounds) {
    if (!parse_extent("--bound", "NODE=N", b, r.bounds, usage)) return Failure{};
  }
  const auto dynamic = std::ranges::find(kDynamicDims, o.dynamic);
  if (dynamic == kDynamicDims.end()) {
    choose("--dynamic", o.dynamic, {kDynamicDims.begin(), kDynamicDims.end()}, usage);
    return Failure{};
  }
  r.dynamic = static_cast<DynamicDims>(dynamic - kDynamicDims.begin());
  if (!is_predictor(o, usage) || !choose("--opaque", o.opaque, {"refuse", "warn"}, usage) ||
      !choose("--fold-batch-norm", o.fold, {"auto", "on", "off"}, usage) || !set_execution(o, r.exec, usage)) {
    return Failure{};
  }
  r.dtype_from = o.dtype.empty() || o.dtype == "default" ? DtypeFrom::Runtime : DtypeFrom::Options;
  r.import.signature = o.signature;
  r.opaque = o.opaque == "warn" ? OpaquePolicy::Warn : OpaquePolicy::Refuse;
  if (o.fold != "auto") r.fold_batch_norm = o.fold == "on" ? FoldBatchNorm::Yes : FoldBatchNorm::No;
  r.devices = o.devices.empty() ? std::vector<std::string>{"a100-40gb"} : o.devices;
  r.device_file = o.device_file;
  r.host = o.host;
  r.stack = o.stack;
  r.names_no_files = o.names_no_files;
  r.predictor = o.predictor;
  r.mig = {.max_latency_ms = o.max_latency_ms, .min_throughput_per_s = o.min_throughput_per_s, .headroom = o.headroom};
  return r;
}

}  // namespace perfc
