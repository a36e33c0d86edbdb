# Patches begin a window apart, however many windows they hold.
s/i % COLUMNS \* ACROSS\)/i % COLUMNS)/
