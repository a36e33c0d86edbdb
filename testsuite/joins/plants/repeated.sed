# A map is laid side by side, where its pixels should be repeated.
s/\(int\)line\.column \/ right/(int)line.column % (int)Shape::W/
