# The networks of the examples in plain torch.nn, by the names of their folders,
# written from their descriptions and not from cnnc's graphs.  The names that -D may set
# in a network's file are arguments here.
from .detectors import SsdMobilenetV1
from .joined import (Densenet121, Googlenet, Squeezenet11, Unet,
                     Unet416x608)
from .mobilenets import (EfficientnetB0, MobilenetV1, MobilenetV2,
                         MobilenetV3Large)
from .plain import (Airbench94, Autoencoder, CifarVgg, Segnet, TfCifar10,
                    TfCifar10Separable, Vgg16)
from .resnets import (Resnet9, Resnet18, Resnet50, Resnet152, Resnet1001,
                      Resnet1202)

NETWORKS = {
    "airbench94": Airbench94, "autoencoder": Autoencoder,
    "cifar_vgg": CifarVgg, "densenet121": Densenet121,
    "efficientnet_b0": EfficientnetB0, "googlenet": Googlenet,
    "mobilenet_v1": MobilenetV1, "mobilenet_v2": MobilenetV2,
    "mobilenet_v3_large": MobilenetV3Large, "resnet1001": Resnet1001,
    "resnet1202": Resnet1202, "resnet152": Resnet152, "resnet18": Resnet18,
    "resnet50": Resnet50, "resnet9": Resnet9, "segnet": Segnet,
    "squeezenet1_1": Squeezenet11, "ssd_mobilenet_v1": SsdMobilenetV1,
    "tf_cifar10": TfCifar10,
    "tf_cifar10_separable": TfCifar10Separable, "unet": Unet,
    "unet_416x608": Unet416x608, "vgg16": Vgg16,
}
