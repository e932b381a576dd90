#include <fmt/format.h>

#include "cli/cli.h"
#include "learning/calibration.h"
#include "pipeline/devices_json.h"

namespace perfc::cli {
namespace {

struct DevicesArguments {
  std::vector<std::string> names;
  std::string device_file, smi_file, host, stack;
  bool json = false, hosts = false, stacks = false;
};

std::string rates(const std::map<std::string, double>& m) {
  std::string out;
  for (const auto& [dtype, rate] : m) out += fmt::format("{}{} {:g}", out.empty() ? "" : ", ", dtype, rate);
  return out.empty() ? "none" : out;
}

/// "server (PyTorch 2.x): view 3.8, … µs per call eager, 14 µs per kernel compiled; within × 2.5"
std::string costs(const Host& h) {
  std::string calls;
  for (std::size_t c = 0; c < kHostCallNames.size(); ++c)
    calls += fmt::format("{}{} {:g}", c ? ", " : "", kHostCallNames[c], h.eager_us[c]);
  return fmt::format("{} ({}): {} µs per call eager, {:g} µs per kernel compiled; within × {:g}", h.name,
                     h.framework.empty() ? "framework not said" : h.framework, calls, h.compiled_us, h.interval);
}

/// "pytorch-2 (PyTorch 2.x, CUDA 11.7 or later): 64 MiB + 2.08 KiB per resident thread + 64 MiB …; within × 1.4"
std::string contents(const Stack& s) {
  return fmt::format(
      "{} ({}{}{}): {:g} MiB + {:g} KiB per resident thread + {:g} MiB where a model convolves; cuBLAS "
      "has {} MiB; within × {:g}",
      s.name, s.framework.empty() ? "framework not said" : s.framework, s.cuda.empty() ? "" : ", ", s.cuda,
      s.context_mib, s.context_kib_per_thread, s.convolution_mib, rates(s.product_workspace_mib), s.interval);
}

std::string describe(const Device& d) {
  std::string out = fmt::format("{}: {}\n", d.name, d.title);
  const auto line = [&](std::string_view key, std::string value) { out += fmt::format("  {:<18} {}\n", key, value); };
  if (!d.aliases.empty()) line("also", fmt::format("{}", fmt::join(d.aliases, ", ")));
  line("architecture", d.architecture);
  line("vector TFLOP/s", rates(d.vector_tflops));
  line("matrix TFLOP/s", rates(d.matrix_tflops));
  line("bandwidth", fmt::format("{:g} GB/s, L2 {:g} MiB", d.bandwidth_gb_s, d.l2_mib));
  line("units", fmt::format("{} at {:g} MHz", d.sms, d.boost_clock_mhz));
  line("memory", fmt::format("{:g} MiB", d.memory_mib));
  line("power", fmt::format("{:g} W, idle {:g} W; of what lies between, kernels {:g}, memory {:g}", d.tdp_w, d.idle_w,
                            d.active_power, d.memory_power));
  line("per kernel", fmt::format("{:g} µs on the device", d.launch_us));
  line("host", costs(d.host));
  line("stack", contents(d.stack));
  line("context", fmt::format("{:.0f} MiB, {:.0f} where a model convolves", d.stack.context(resident_threads(d), false),
                              d.stack.context(resident_threads(d), true)));
  line("shares of peak", rates(d.efficiency));
  for (const MigProfile& p : d.mig) {
    line(p.name, fmt::format("{} SMs, {}/8 of the memory: {:g} MiB, at most {}", p.sms, p.memory_slices, p.memory_mib,
                             p.max_instances));
  }
  return out;
}

/// The built-in hosts or stacks.
template <class Entry>
int list_entries(const DevicesArguments& o, std::string_view kind, const std::vector<Entry>& all,
                 std::string (*describe_one)(const Entry&), std::string (*json)(const std::vector<Entry>&)) {
  if (!o.names.empty() || !o.device_file.empty() || !o.smi_file.empty() || !o.host.empty() || !o.stack.empty())
    return fail(kBadUsage, fmt::format("--{0} lists the built-in {0} and takes --json only", kind));
  auto out = Output::open("");
  if (o.json) out->write(json(all));
  for (const Entry& e : all) {
    if (!o.json) out->write(describe_one(e) + "\n");
  }
  return out->commit() ? kFine : kBadInput;
}

int run_devices(const DevicesArguments& o) {
  if (o.hosts && o.stacks) return fail(kBadUsage, "--hosts and --stacks: one list at a time");
  if (o.hosts) return list_entries(o, "hosts", builtin_hosts(), costs, hosts_json);
  if (o.stacks) return list_entries(o, "stacks", builtin_stacks(), contents, stacks_json);
  auto out = Output::open("");
  std::vector<Device> devices;
  if (!o.smi_file.empty()) {
    Diagnostics diags(o.smi_file);
    auto source = Source::open(o.smi_file, diags);
    Result<std::vector<HostGpu>> gpus = Failure{};
    if (source) gpus = read_nvidia_smi(source->bytes(), DeviceTable::builtin(), diags);
    print(diags);
    if (!gpus) return kBadInput;
    for (const HostGpu& g : *gpus) {
      devices.push_back(g.device);
      if (!set_surroundings({.host = o.host, .stack = o.stack}, devices, diags)) {
        print(diags);
        return no_devices({.host = o.host, .stack = o.stack});
      }
      if (o.json) continue;
      out->write(fmt::format("{}  {:.0f} MiB free of {:.0f}, MIG {}{}\n", g.device.name, g.free_mib,
                             g.device.memory_mib, g.mig_mode.empty() ? "N/A" : g.mig_mode,
                             g.in_table ? "" : "  (rates estimated)"));
      for (const HostInstance& i : g.instances)
        out->write(fmt::format("  instance {}  {:.0f} MiB\n", i.profile.name, i.profile.memory_mib));
    }
  } else {
    Request request;
    request.devices = o.names;
    request.device_file = o.device_file;
    request.host = o.host;
    request.stack = o.stack;
    Diagnostics diags;
    auto found = find_devices(request, diags);
    if (!found) {
      print(diags);
      return no_devices({.device_file = o.device_file, .host = o.host, .stack = o.stack});
    }
    devices = std::move(*found);
    if (o.names.empty()) devices = DeviceTable::builtin().all();
    if (!set_surroundings(request, devices, diags)) {
      print(diags);
      return no_devices({.host = o.host, .stack = o.stack});
    }
    for (const Device& d : devices) {
      if (o.json) break;
      if (!o.names.empty()) {
        out->write(describe(d));
      } else {
        const auto f16 = d.matrix_tflops.find("float16");
        out->write(fmt::format("{:<20} {:<52} {:>7.4g} TFLOP/s fp32 {:>7} fp16 {:>6.4g} GB/s {:>7.0f} MiB  {}\n",
                               d.name, d.title, d.vector_tflops.at("float32"),
                               f16 == d.matrix_tflops.end() ? "-" : fmt::format("{:.4g}", f16->second),
                               d.bandwidth_gb_s, d.memory_mib, d.mig.empty() ? "" : "MIG"));
      }
    }
  }
  if (o.json) out->write(devices_json(devices));
  return out->commit() ? kFine : kBadInput;
}

struct CalibrateOptions {
  CalibrationRequest request;
  std::string output;
};

int run_calibration(const CalibrateOptions& o) {
  auto out = Output::open(o.output);
  if (!out) return kBadInput;
  Diagnostics diags;
  const auto found = calibrate(o.request, diags);
  print(diags);
  if (!found) return kBadInput;
  out->write(devices_json({found->device}));
  if (!out->commit()) return kBadInput;
  say("perfc: {} calibrated on {} labels ({} left out); mean error on them {:.1f} % before, {:.1f} % after\n",
      found->device.name, found->labels, found->left_out, 100 * found->error_before, 100 * found->error_after);
  if (found->power_labels > 0) {
    say("perfc: power terms fitted on {} labels with energy; mean error of power {:.1f} % before, {:.1f} % after\n",
        found->power_labels, 100 * found->power_error_before, 100 * found->power_error_after);
  }
  return kFine;
}

Command calibrate_command() {
  auto o = std::make_shared<CalibrateOptions>();
  CalibrationRequest& r = o->request;
  Command c{"calibrate", "Fit a device's constants to measurements on it (docs/devices.md)",
            [o] { return run_calibration(*o); }};
  c.option("labels", r.data,
           "CSV file: labels beside their model files (docs/gnn.md), or measured products (docs/devices.md)")
      .required();
  c.option("-o,--output", o->output, "Device file to write [standard output]");
  c.option("--device-file", r.device_file, "JSON file that describes the device, where it is not built in");
  c.option("--host", r.host, "What dispatches to it, whose costs are fitted too: a name or a host file [the device's]");
  c.option("--predictor", r.predictor, "default, whitebox, or the path of a checkpoint [default]");
  c.option("--name", r.name, "Name of the calibrated device [as it was]");
  add_label_filter(c, r.filter);
  c.option("--threads", r.threads, "[one per core]").must_be(WholeBetween{0, 1024});
  return c;
}

}  // namespace

Command devices_command() {
  auto o = std::make_shared<DevicesArguments>();
  Command c{"devices", "List devices, or describe some", [o] { return run_devices(*o); }};
  c.option("names", o->names, "Devices or MIG slices to describe");
  c.option("--device-file", o->device_file, "JSON file with devices of your own");
  c.option("--from-nvidia-smi", o->smi_file, "Output of `nvidia-smi -q -x`: describes that host's GPUs");
  c.option("--host", o->host, "What dispatches to the devices: a name of --hosts, or a host file");
  c.option("--hosts", o->hosts, "List hosts: what CPUs and framework versions take per call");
  c.option("--stack", o->stack, "Software whose context takes their memory: a name of --stacks, or a stack file");
  c.option("--stacks", o->stacks, "List software stacks: what frameworks and their libraries take of memory");
  c.option("--json", o->json, "As JSON, in the format of device files");
  c.commands = {calibrate_command()};
  return c;
}

}  // namespace perfc::cli
