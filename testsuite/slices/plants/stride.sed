# The next row of a slice begins a vector early: where vectors may lie, or the host runtime stops it.
s/(STRIDE - WIDTH)/(STRIDE - WIDTH - 4)/
