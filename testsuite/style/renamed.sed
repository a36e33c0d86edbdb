# From the names that emitted files had before to those that they have:
#
#     sed -E -f renamed.sed old.cu
#
# is the new file, but for white space (a longer name moves what stands behind it, and wraps lines)
# and the hash of the plan, which is of the steps' names.

# The program that an emitted file shows is the user's.
/^\/\/ +[0-9]+ \| /b

# Products: tiles and what is read into them.
s/\ba Walk\b/an Im2colIndex/g
s/\bthe spots of\b/the offsets of/g
s/\ba Spot\b/an Offset2d/g
s/\bWalk walk\b/Im2colIndex index/g
s/\breturn walk\(i\)/return index(i)/g
s/\bPatchWalk\b/PatchIndex/g
s/\bWalk\b/Im2colIndex/g
s/\bSpot spot\b/Offset2d pixel/g
s/\bspot\.(h|w|offset)\b/pixel.\1/g
s/\bSpot\b/Offset2d/g
s/\bLoadStage\b/TileLoader/g
s/\bBlockTile\b/GemmTile/g
s/\bthe Placed row of a pixel, of PIXELS with C channels each, from its channel/the OutputRow of a pixel, of PIXELS with C channels each, from channel/g
s/\bPlaced\b/OutputRow/g
s/\bslopes_of\b/activation_grad/g
s/\bturned_([ab])\b/transpose_\1/g
s/\bload_turned_matrices\b/load_transposed_matrices/g

# A tile in shared memory.
s/\bunion Room\b/union Shared/g
s/\bTensorRoom<Tile> &room\b/TensorSharedTiles<Tile> \&shared/g
s/\bTensorRoom\b/TensorSharedTiles/g
s/\bRoom (&?)room\b/SharedTiles \1shared/g
s/\bRoom\b/SharedTiles/g
s/^    \} room;/    } shared;/
s/\broom\.(tiles|map|rows|columns)\b/shared.\1/g
s/\b(\w*sums(<\w+>)?)\(room\b/\1(shared/g
s/\bwhat lay in the room has been read/the tiles have been read/
s/\bput_shared\b/store_shared/g

# Elements that move at once.
s/\b(A|a|The|the|one|each) pack\b/\1 vector/g
s/\bpacks\b/vectors/g
s/(^|[^-])\bpack\b/\1vec/g
s/\bPackWord\b/VecWord/g
s/\bPack\b/Vec/g
s/\bPACK(S|_C|_K)?\b/VEC\1/g
s/\b(load|store|put)_pack\b/\1_vec/g
s/\bpack_(at|each)\b/vec_\1/g
s/\bBehind\b/LazyVec/g
s/\bHeld\b/LoadedVec/g
s/\bhold_in\b/load_lazy_in/g
s/\bhold([<(])/load_lazy\1/g
s/\/\/ hold: /\/\/ load_lazy: /
s/: hold of\b/: load_lazy of/
s/\bScaled([<:,;]| \{|$)/ScaleLoad\1/g
s/\bBiased\b/BiasLoad/g
s/\bUnpooled\b/UnpoolLoad/g
s/\bCrossEntropySlope\b/CrossEntropyGrad/g
s/\bItems\b/TensorList/g

# The state's header, what is summed over batches, and the operators of that.
s/\bHeader\b/StateHeader/g
s/\bStateHeader and data\b/Header and data/
s/\bTallyAccrued\b/PartialMetricSums/g
s/\bTally\b/MetricSums/g
s/\bAccrued/Accumulated/g
s/Accrued\b/Accumulated/g
s/\baccrued\b/accumulated/g
s/_accrued\b/_accumulated/g
s/\baccrue_(add|mean|next|begin|clear)\b/accumulate_grad_\1/g
s/\baccrue\b/accumulate_grad/g
s/\btally\b/accumulate_metrics/g
s/\bAdvance\b/AdvanceStep/g
s/\badvance\b/advance_step/g
s/\btake_rows\b/slice_batch/g

# The text of a graph: what is said of values and nodes.
/^(\[[0-9]+\]|%[0-9]+) /{
s/ inlined( (@|in_place|joined)|$)/ fused_load\1/
s/ joined( @|$)/ grouped\1/
s/ again=%/ recompute_of=%/g
s/ rows=([0-9]+) stride=/ view_rows=\1 view_stride=/g
s/(\]( marked)?) wide\b/\1 keep_f32/g
}

# The kernels of operators that passes ask for.
s/\b(conv|dense|sum_splits)\.accumulate\b/\1.momentum/g

# Passes, in the table of --compare and that of the page.
s/(^|>)\+ fold\b/\1+ simplify/
s/(^|>)\+ split\b/\1+ batch_split/
s/(^|>)\+ fuse_backward\b/\1+ fuse_activation_grad/
s/(^|>)\+ accumulate\b/\1+ fuse_momentum/
s/(^|>)\+ fuse_load\b/\1+ fuse_prologue/
s/(^|>)\+ parts\b/\1+ split_concat_grad/
s/(^|>)\+ half\b/\1+ lower_precision/
s/(^|>)\+ slices( {2}|<)/\1+ elide_copies\2/
s/(^|>)\+ ends\b/\1+ fuse_last_block/
s/(^|>)\+ together\b/\1+ fuse_horizontal/
s/(^|>)\+ share\b/\1+ share_buffers/
s/(^|>)\+ plan\b/\1+ assign_offsets/
# Longer names of passes may be broken on a narrow page.
s/(\.passes \.name \{ white-space: normal; overflow-wrap:) normal;/\1 anywhere; min-width: 8em;/
