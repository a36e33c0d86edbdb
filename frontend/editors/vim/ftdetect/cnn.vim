" Detects networks of cnnc.
autocmd BufRead,BufNewFile *.cnn setfiletype cnn
