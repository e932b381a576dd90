#pragma once
/// The extents of calls as their kernels see them.
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"

namespace perfc {

/// Of a kernel that touches each of so many elements of a type once.
Extents elementwise_extents(const Type&, double elements);
/// Elements that all windows of a pooling read; 0 for other operators, and where shapes are not known.
double pooled_reads(const Graph&, const Node&);
/// Whether a convolution is of a form of which no kernel was measured: `Placement::rare`.
bool is_rare_convolution(const Graph&, const Node&);
/// Of a call with `macs` multiply–accumulates.
Extents extents_of(const Graph&, NodeId, double macs);
/// The same by rows: m of them, each of the n elements that a norm normalises together, from `axis` on.
Extents extents_of_rows(const Node& norm, Extents);
/// Of an operator whose row has an `attention` column, where its types are static; else empty.
AttentionSpan attention_span(const Graph&, NodeId);
/// How well tensor cores load rows as long as the last axis, see Placement::aligned.
double row_alignment(const Type&);
/// The same for a convolution's output channels: cuDNN pads those that are no multiples of 8.
double channel_alignment(const Graph&, const Node& convolution);
/// Width and window of each group of a convolution.
ConvolutionGroup convolution_group(const Graph&, const Node&, double window, bool channels_last);

}  // namespace perfc
