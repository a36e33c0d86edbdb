# What a gradient is unpooled from on load, inside of a struct, is another pool's index.
s/(a\[d_pool2[_0-9]*\], )a\[pool2_index\]/\1a[pool1_index]/
