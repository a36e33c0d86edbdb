// Hints for words of other frameworks.  An unknown name is looked up here
// first, and then by spelling.
#include <ctype.h>
#include <string.h>
#include "resolve.h"

typedef struct Foreign {
    const char *words;          // a|b|c, lower case and without underscores
    const char *hint;           // the way to write it here
} Foreign;

static const Foreign operators[] = {
    { "conv2d|convolution|convolution2d",
      "write conv(64, 3), the channels of the result and the kernel; padding "
      "is same unless it is given, padding = valid is none" },
    { "conv1d|convolution1d",
      "write conv(64, 1x3) on a map of one row, [1, length, channels]" },
    { "depthwiseconv|depthwiseconv2d|dwconv",
      "write conv(channels(x), 3, groups = channels(x))" },
    { "separableconv|separableconv2d|sepconv",
      "write conv(channels(x), 3, groups = channels(x), bias = false) -> "
      "conv(64, 1)" },
    { "convtranspose2d|conv2dtranspose|transposedconv|deconv|deconvolution|"
      "convtransposed",
      "write conv_transpose(64, 2, stride = 2)" },
    { "linear|fc|fullyconnected|innerproduct|denselayer",
      "write dense(10), the units alone, of a vector: after flatten" },
    { "batchnorm2d|batchnormalization|bn",
      "write batchnorm(momentum = 0.1); the momentum is PyTorch's, 1 minus "
      "Keras's" },
    { "layernormalization", "write layernorm, over a pixel's channels" },
    { "groupnormalization", "write groupnorm(32), the number of groups" },
    { "instancenorm|instancenorm2d|instancenormalization",
      "write groupnorm(channels(x)), a group a channel" },
    { "maxpool2d|maxpooling|maxpooling2d",
      "write maxpool(2); the stride is the kernel's size unless it is given" },
    { "avgpool2d|averagepool|averagepooling|averagepooling2d|meanpool",
      "write avgpool(2); the stride is the kernel's size unless it is given" },
    { "globalaveragepooling2d|globalaveragepooling|globalavgpool2d|"
      "globalaveragepool|gap",
      "write global_avgpool -> flatten" },
    { "adaptiveavgpool2d|adaptiveaveragepool",
      "write adaptive_avgpool(7x7), or global_avgpool for 1x1" },
    { "globalmaxpooling2d|globalmaxpooling|globalmaxpool2d|adaptivemaxpool|"
      "adaptivemaxpool2d",
      "write global_maxpool -> flatten" },
    { "hardswish|hswish", "write hard_swish" },
    { "hardsigmoid|hsigmoid", "write hard_sigmoid" },
    { "leakyrelu|lrelu", "write leaky_relu(0.01), the slope below 0" },
    { "dropout2d|spatialdropout|spatialdropout2d|featuredropout",
      "write dropout(0.5), which drops elements; none drops whole channels" },
    { "droppath|stochasticdrop",
      "write stochastic_depth(0.1) on the branch that is added" },
    { "upsample2d|upsampling|upsampling2d|upsamplingnearest2d|"
      "upsamplingbilinear2d",
      "write upsample(2, mode = bilinear), or mode = nearest, the default" },
    { "interpolate|resizebilinear|resizenearest",
      "write resize(513x513, mode = bilinear, align_corners = true), or "
      "upsample(2) by a whole factor" },
    { "view", "write flatten, or reshape([4, 4, 8]), without the batch" },
    { "stopgradient|stop_gradient|stopbackward|no_grad|blockgrad",
      "write x -> detach; to freeze layers, give them train = none" },
    { "cat|concatenate", "write concat(a, b), along the channels" },
    { "zeropad|zeropad2d|zeropadding|zeropadding2d", "write pad(1)" },
    { "reflectionpad2d|reflectionpad|mirrorpad",
      "write pad(1, mode = reflect)" },
    { "replicationpad2d|replicationpad", "write pad(1, mode = edge)" },
    { "circularpad2d", "write pad(1, mode = wrap)" },
    { "permute|swapaxes|moveaxis",
      "write transpose([2, 0, 1]), the axes of a sample from 0" },
    { "localresponsenorm|localresponsenormalization",
      "write lrn(5, alpha = 0.0001, beta = 0.75, k = 1)" },
    { "clip|clipbyvalue|hardtanh", "write clamp(low = -1, high = 1)" },
    { "power|pow", "write square, sqrt, exp or log" },
    { "negative|neg", "write -x" },
    { "plus|addconstant", "write x + 1" },
    { "cropping2d|centercrop", "write crop(1)" },
    { "multiply", "write a * b, or mul(a, b)" },
    { "subtract", "write a - b, or sub(a, b)" },
    { "divide", "write a / b, or div(a, b)" },
    { "rescaling", "write scale(1/255)" },
    { "activation", "write the activation itself: relu" },
    { "crossentropy|crossentropyloss|sparsecategoricalcrossentropy",
      "write loss softmax_cross_entropy(logits, label), which applies "
      "softmax" },
    { "categoricalcrossentropy|softmaxcrossentropywithlogits|"
      "softtargetcrossentropy",
      "write loss softmax_cross_entropy(logits, target), which applies "
      "softmax; target is f32[10], a probability of each class" },
    { "nllloss|negativeloglikelihood",
      "write loss nll(logits -> log_softmax, label), or the same as "
      "softmax_cross_entropy(logits, label)" },
    { "kldiv|kldivloss|kldivergence|kullbackleiblerdivergence|kld",
      "write loss softmax_cross_entropy(logits, target), which lacks the "
      "entropy of target alone, so that the gradient is the same" },
    { "sigmoidfocalloss|focalloss|binaryfocalcrossentropy",
      "write loss focal(logits, target, alpha = 0.25, gamma = 2), which "
      "applies a sigmoid" },
    { "bce|bceloss|bcewithlogits|bcewithlogitsloss|sigmoidcrossentropy|"
      "binarycrossentropywithlogits|binarycrossentropyloss",
      "write loss binary_cross_entropy(logits, target), which applies a "
      "sigmoid" },
    { "mseloss|meansquarederror|l2loss", "write loss mse(prediction, target)" },
    { "smoothl1loss", "write loss smooth_l1(prediction, target, beta = 1)" },
    { "huber|huberloss",
      "write loss smooth_l1(prediction, target, beta = 2, weight = 2) for a "
      "delta of 2" },
    { "diceloss|softdice",
      "write loss dice(logits, target), which applies sigmoid" },
    { "mae|l1|l1loss",
      "write mean_absolute_error(prediction, target), a loss or a metric" },
    { "miou|meaniou|iou", "write metric mean_iou(logits, label)" },
    { "truepositiverate|sensitivity", "write metric recall(logits, label)" },
    { "f1score|fbeta|fbetascore|fscore", "write metric f1(logits, label)" },
    { "auroc|rocauc|rocaucscore|areaundercurve",
      "write metric auc(logits, label)" },
    { "topkaccuracy|topkcategoricalaccuracy|top5|"
      "sparsetopkcategoricalaccuracy",
      "write metric top_k(logits, label, k = 5)" },
    { "momentum|nesterov", "write sgd(lr = 0.1, momentum = 0.9)" },
    { "cosineannealing|cosineannealinglr|cosinedecay",
      "write cosine(steps = 10000)" },
    { "steplr|exponentiallr|exponentialdecay",
      "write step(every = 1000, factor = 0.1)" },
    { "onecyclelr", "write one_cycle(steps = 10000)" },
    { "polynomiallr|polynomialdecay|linearlr",
      "write polynomial(steps = 10000)" },
    { "fakequantize|fakequant|quantstub|dequantstub|quantizelinear|"
      "dequantizelinear|quantizeannotatelayer|quantizewrapper",
      "write quantize = int8(delay = 2000) in the train section, which rounds "
      "the maps and weights of all layers" },
    { NULL, NULL },
};

static const Foreign arguments[] = {
    { "kernelsize|poolsize|ksize", "kernel" },
    { "filters|outchannels|channelsout", "channels" },
    { "outfeatures|numunits", "units" },
    { "strides", "stride" },
    { "usebias", "bias" },
    { "pad|pads", "padding" },
    { "dilationrate|dilations", "dilation" },
    { "p|dropprob", "rate" },
    { "eps", "epsilon" },
    { "negativeslope", "slope" },
    { "kernelinitializer|initializer|weightinit", "init" },
    { "numgroups|group", "groups" },
    { "scalefactor", "factor" },
    { "ignoreindex|ignoreclass", "ignore" },
    { "labelsmooth|smoothing", "label_smoothing" },
    { "learningrate", "lr" },
    { NULL, NULL },
};

static const Foreign types[] = {
    { "float32|float|real|fp32|f64|float64|double|float16|half", "f32" },
    { "uint8|byte|uchar", "u8" },
    { "int32|int|integer|int64|long", "i32" },
    { "label|categorical|classes|category", "class" },
    { NULL, NULL },
};

// True if word is one of a|b|c, in any case and without its underscores.
static bool is_among(const char *word, const char *words)
{
    char plain[64];
    size_t length = 0;
    for (; *word != '\0'; word++) {
        if (*word == '_') continue;
        if (length + 1 == sizeof plain) return false;
        plain[length++] = (char)tolower((unsigned char)*word);
    }
    plain[length] = '\0';
    return is_word_of(plain, words);
}

static const char *find_hint(const Foreign *table, const char *word)
{
    for (; table->words != NULL; table++)
        if (is_among(word, table->words)) return table->hint;
    return NULL;
}

const char *foreign_operator(const char *word)
{
    return find_hint(operators, word);
}

const char *foreign_argument(const char *word)
{
    return find_hint(arguments, word);
}

const char *foreign_type(const char *word)
{
    return find_hint(types, word);
}
