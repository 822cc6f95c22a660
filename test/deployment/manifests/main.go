// Reads manifests from standard input and says which ones Kubernetes, the Prometheus operator or KEDA would not take: each is decoded
// strictly into the type of its owner, so that an unknown field, a repeated one and a value of another type are errors.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	keda "github.com/kedacore/keda/v2/apis/keda/v1alpha1"
	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

func main() {
	known := scheme.Scheme
	for _, add := range []func() error{
		func() error { return monitoring.AddToScheme(known) },
		func() error { return keda.AddToScheme(known) },
	} {
		if err := add(); err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
	}
	decoder := serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	valid, invalid := 0, 0
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		if _, kind, err := decoder.Decode(document, nil, nil); err != nil {
			fmt.Printf("%v: %v\n", kind, err)
			invalid++
		} else {
			valid++
		}
	}
	fmt.Printf("%d valid, %d invalid\n", valid, invalid)
	if invalid > 0 {
		os.Exit(1)
	}
}
