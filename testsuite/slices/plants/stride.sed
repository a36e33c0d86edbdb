# The next row of a slice begins an element early.
s/(STRIDE - WIDTH)/(STRIDE - WIDTH - 1)/
