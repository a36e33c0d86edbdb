# The next row of a slice begins a pack early: where packs may lie, or the host runtime stops it.
s/(STRIDE - WIDTH)/(STRIDE - WIDTH - 4)/
