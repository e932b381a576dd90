#pragma once
/// Every field of a kernel, declared once for all who read them one by one: what tells kernels apart
/// (features/kernel_graph.cpp), the table of `--emit=kernels` (whitebox/price/roofline.cpp), and tests.
#include <string_view>

#include "whitebox/launch/kernels.h"

namespace perfc {

/// Whether kernels that differ in a field are different kernels.
enum class Tells : unsigned char { Apart, Nothing };

struct KernelField {
  std::string_view name, unit;   ///< "1" for counts, shares and switches
  std::string_view format = {};  ///< of its column in the table of kernels; empty: it has none
  Tells tells = Tells::Apart;
};

/// Calls `visit(KernelField, value)` for each field, in the order of the table's columns. A field that is added to
/// `Kernel` or one of its parts does not compile until it is bound and visited here; `K`: Kernel, const or not.
template <class K, class Visit>
void visit_fields(K&& kernel, Visit&& visit) {
  auto& [node, repeat, kind, pass, half, quantised, ops, work, extents, placement, traffic, limits, attention, state] =
      kernel;
  auto& [macs, flops] = work;
  auto& [m, n, k, products, window, stride, tiles, channels_per_group, row, weights, groups] = extents;
  auto& [aligned, channels_first, wide_index, transposed, whole_rows, blocked, rare] = placement;
  auto& [bytes, handed_bytes, state_weights, steps, resident, padding_bytes, epilogue_bytes, biased_bytes] = traffic;
  auto& [tile_share, vector_share, serial_steps, row_blocks, blocks, busy_cached, busy_missed, blocks_held, byte_clocks,
         on_lanes, generated, tail_clocks, depthwise, slowdown, all_groups] = limits;
  auto& [tile_blocks, tile_clocks, first_clocks] = depthwise;
  auto& [batch, heads, key_heads, queries, keys, channels, causal, past, reach, writes_cache, masked, in_engine,
         unequal] = attention;
  auto& [state_kernels, sequences, states, state_tokens, state_keys, state_values, by_channel] = state;
  visit(KernelField{"node", "1", "{}", Tells::Nothing}, node);
  visit(KernelField{"operators", "1", "{}"}, ops);
  visit(KernelField{"kind", "1", "{}"}, kind);
  visit(KernelField{"pass", "1"}, pass);
  visit(KernelField{"width", "bit", "{}"}, half);
  visit(KernelField{"quantised", "1"}, quantised);
  visit(KernelField{"repeat", "1", "{:g}", Tells::Nothing}, repeat);  // classes add it up
  visit(KernelField{"macs", "MAC", "{:.0f}"}, macs);
  visit(KernelField{"flops", "FLOP", "{:.0f}"}, flops);
  visit(KernelField{"bytes", "byte", "{:.0f}"}, bytes);
  visit(KernelField{"m", "1", "{:.0f}"}, m);
  visit(KernelField{"n", "1", "{:.0f}"}, n);
  visit(KernelField{"k", "1", "{:g}"}, k);
  visit(KernelField{"products", "1", "{:.0f}"}, products);
  visit(KernelField{"window", "elements"}, window);
  visit(KernelField{"stride", "elements"}, stride);
  visit(KernelField{"tiles", "1"}, tiles);
  visit(KernelField{"channels_per_group", "1"}, channels_per_group);
  visit(KernelField{"row", "1", {}, Tells::Nothing}, row);
  visit(KernelField{"weights", "elements", {}, Tells::Nothing}, weights);
  visit(KernelField{"groups", "1", {}, Tells::Nothing}, groups);
  visit(KernelField{"blocked", "1", {}, Tells::Nothing}, blocked);
  visit(KernelField{"rare", "1", {}, Tells::Nothing}, rare);
  visit(KernelField{"aligned", "1"}, aligned);
  visit(KernelField{"channels_first", "1"}, channels_first);
  visit(KernelField{"wide_index", "1"}, wide_index);
  visit(KernelField{"transposed", "1"}, transposed);
  visit(KernelField{"whole_rows", "1"}, whole_rows);
  visit(KernelField{"handed_bytes", "byte"}, handed_bytes);
  visit(KernelField{"state_weights", "byte"}, state_weights);
  visit(KernelField{"steps", "1"}, steps);
  visit(KernelField{"resident", "1"}, resident);
  visit(KernelField{"padding_bytes", "byte"}, padding_bytes);
  visit(KernelField{"epilogue_bytes", "byte"}, epilogue_bytes);
  visit(KernelField{"biased_bytes", "byte"}, biased_bytes);
  visit(KernelField{"tile_share", "1"}, tile_share);
  visit(KernelField{"vector_share", "1"}, vector_share);
  visit(KernelField{"serial_steps", "1"}, serial_steps);
  visit(KernelField{"row_blocks", "1"}, row_blocks);
  visit(KernelField{"blocks", "1"}, blocks);
  visit(KernelField{"busy_cached", "1"}, busy_cached);
  visit(KernelField{"busy_missed", "1"}, busy_missed);
  visit(KernelField{"blocks_held", "1"}, blocks_held);
  visit(KernelField{"byte_clocks", "1"}, byte_clocks);
  visit(KernelField{"on_lanes", "1"}, on_lanes);
  visit(KernelField{"generated", "1"}, generated);
  visit(KernelField{"tail_clocks", "clocks"}, tail_clocks);
  visit(KernelField{"tile_blocks", "1"}, tile_blocks);
  visit(KernelField{"tile_clocks", "clocks"}, tile_clocks);
  visit(KernelField{"first_clocks", "clocks"}, first_clocks);
  visit(KernelField{"slowdown", "1"}, slowdown);
  visit(KernelField{"all_groups", "1", {}, Tells::Nothing}, all_groups);
  visit(KernelField{"state_kernels", "1"}, state_kernels);
  visit(KernelField{"state_sequences", "1"}, sequences);
  visit(KernelField{"state_heads", "1"}, states);
  visit(KernelField{"state_tokens", "1"}, state_tokens);
  visit(KernelField{"state_keys", "1"}, state_keys);
  visit(KernelField{"state_values", "1"}, state_values);
  visit(KernelField{"state_by_channel", "1"}, by_channel);
  visit(KernelField{"attention_batch", "1"}, batch);
  visit(KernelField{"attention_heads", "1"}, heads);
  visit(KernelField{"attention_key_heads", "1"}, key_heads);
  visit(KernelField{"attention_queries", "1"}, queries);
  visit(KernelField{"attention_keys", "1"}, keys);
  visit(KernelField{"attention_channels", "1"}, channels);
  visit(KernelField{"attention_causal", "1"}, causal);
  visit(KernelField{"attention_past", "1"}, past);
  visit(KernelField{"attention_window", "1"}, reach);
  visit(KernelField{"attention_writes_cache", "1"}, writes_cache);
  visit(KernelField{"attention_masked", "1"}, masked);
  visit(KernelField{"attention_in_engine", "1"}, in_engine);
  visit(KernelField{"attention_unequal", "1"}, unequal);
}

}  // namespace perfc
