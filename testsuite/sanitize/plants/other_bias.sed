# A layer is given another one's bias.
s/a\[fc1_weight\], a\[fc1_bias\]/a[fc1_weight], a[fc2_bias]/
