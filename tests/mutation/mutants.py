"""Plausible bugs, one replacement each: `old` stands once in `file`. `caught_by`: a filter of unit tests, or a
golden."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    why: str  # what would be wrong for the user
    file: str
    old: str
    new: str
    caught_by: str


MUTANTS = (
    # ---- front ends and passes
    Mutant("torch-stride-dilation", "strided convolutions of PyTorch programs become dilated ones",
           "frontends/torch/convolution.cpp",
           'auto strides = c.spread("stride", g.spatial, 1), dilation = c.spread("dilation", g.spatial, 1);\n'
           '  const auto groups = c.integer_or("groups", 1);\n  if (!k || !strides || !dilation || !groups)',
           'auto strides = c.spread("dilation", g.spatial, 1), dilation = c.spread("stride", g.spatial, 1);\n'
           '  const auto groups = c.integer_or("groups", 1);\n  if (!k || !strides || !dilation || !groups)',
           "TorchImport*"),
    Mutant("fold-shared-product", "a batch-norm is folded into a convolution that others read",
           "passes/fold_batch_norm.cpp", "v.result == 0 && uses_[v.node] == 1", "v.result == 0 && uses_[v.node] >= 1",
           "FoldBatchNorm.*"),
    # ---- whitebox: launch, price, memory
    Mutant("tf32-power", "long TF32 work outruns the card's power", "whitebox/price/matmul_time.cpp",
           "(relative > 1 ? std::sqrt(relative) : relative)", "(relative > 1 ? std::sqrt(relative) : 1)",
           "ProductTime.*"),
    Mutant("learned-on-strangers", "what one graphics chip taught corrects all others", "whitebox/price/roofline.cpp",
           '(d.architecture == "ada" && d.tdp_w >= least_w)', "(d.tdp_w > 0 && least_w > 0)", "ProductTime.*"),
    Mutant("missing-cast", "AMP launches no cast of what runs in float32", "whitebox/launch/float_widths.cpp",
           "    casts_.push_back({v, id});", "    if (reads_[id] == Reads::Half) casts_.push_back({v, id});",
           "Framework.ResizingIsInFloat32UnderAutocast"),
    Mutant("any-attention-replaced", "TorchInductor fuses attention whose scores are divided, by any version",
           "whitebox/launch/compiled.cpp", 'merged == 0 && today && scaled == "scores" ?', "merged == 0 ?",
           "golden/kernels/attention-replaced.pir"),
    Mutant("half-is-full", "tensors of 16 bits are read as 32", "whitebox/launch/widths.cpp",
           "std::min(own, 2.0) : own", "std::min(own, 4.0) : own", "Autocast*:Kernels*:Whitebox*"),
    Mutant("serial-step-doubled", "kernels whose threads wait for their own loads take twice as long",
           "whitebox/price/roofline.cpp", "serial_us(constants::kSerialStepUs)",
           "serial_us(2 * constants::kSerialStepUs)", "Roofline.*"),
    Mutant("host-added", "host and device do not overlap", "whitebox/timeline.cpp",
           "  return longest(device_factor, host_factor).ms(device_factor, host_factor);\n",
           "  return sums_.front().host_ms * host_factor + sums_.back().device_ms * device_factor;\n", "Whitebox.*"),
    Mutant("freed-early", "a tensor is freed a node before its last reader", "whitebox/memory/memory.cpp",
           "if (v) last_use_[owner_[v.node]] = std::max(last_use_[owner_[v.node]], id);",
           "if (v) last_use_[owner_[v.node]] = std::max(last_use_[owner_[v.node]], id - 1);", "Memory.*"),
    Mutant("clock-without-limit", "attention has the whole clock of chips that are short of power",
           "whitebox/price/roofline.cpp", 'd.memory_type == "hbm" ? 1 : std::min(sustained[1] / matrix[1], 1.0)', "1",
           "AttentionTime.*"),
    # ---- devices, MIG
    Mutant("slice-has-all-bandwidth", "a MIG slice has the whole device's bandwidth", "devices/device_table.cpp",
           "  d.bandwidth_gb_s *= memory;\n", "", "DeviceTable.*:ChooseProfile.*"),
    Mutant("dippm-eq-2", "DIPPM's equation 2 with a bound turned round", "mig/mig.cpp",
           'if (memory_mb < 10000) return "2g.10gb";', 'if (memory_mb > 10000) return "2g.10gb";', "DippmRule.*"),
    # ---- features, networks, learning
    Mutant("normaliser-variance", "columns are divided by their variance", "features/schema.cpp",
           "const double deviation = std::sqrt(squares / static_cast<double>(m.rows));",
           "const double deviation = squares / static_cast<double>(m.rows);", "Normaliser.*"),
    Mutant("sage-sum", "GraphSAGE sums neighbours instead of taking their mean", "gnn/layers/sage.cpp",
           "if (senders.size() > 1) mean *= T(1) / static_cast<T>(senders.size());", "", "Layers*"),
    Mutant("other-group-in-full", "residuals on another device count in full when the process is asked",
           "gnn/models/gaussian_process.cpp", "(groups_[p] == asked[g] ? 1 : others[g])", "1.0", "GaussianProcess.*"),
    Mutant("other-group-fitted-in-full", "residuals on another device count in full when the process is fitted",
           "gnn/models/gaussian_process.cpp",
           "std::exp(-far) * (groups_a[i] == groups_b[j] ? 1 : GaussianProcess::kOtherGroup)", "std::exp(-far)",
           "GaussianProcess.*"),
    Mutant("interval-of-half", "the 90 % interval is one of 50 %", "learning/held_out.cpp",
           "std::ceil(kIntervalShare * ", "std::ceil(0.5 * ", "HeldOut.*"),
    Mutant("left-out-device-known", "a device that was left out is judged with its own measured constants",
           "learning/corrected_training.cpp", "saw(d) ? data_.device(d) : data_.unmeasured(d)", "data_.device(d)",
           "LeavingOut.*"),
    Mutant("left-out-device-in-mean", "its own constants are in the mean that stands for a device left out",
           "learning/corrected_data.cpp", "if (chip(d) != chip(device) && speaks(d))", "if (speaks(d))",
           "LeavingOut.*"),
    # ---- counters
    Mutant("misses-per-access", "Table I's cache miss ratio is misses to hits, not to accesses", "counters/derive.cpp",
           '"l1.load_misses", "l1.loads -l1.load_misses"', '"l1.load_misses", "l1.loads"', "Derive.*"),
)
