// A control plane of Kubernetes for the proof of deploy/helm, as one program: `etcd …` and `kube-apiserver …` with the options of the
// originals, and `controllers KUBECONFIG`: those of kube-controller-manager that a release needs, which take a tenth of its time to build.
package main

import (
	"fmt"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	words := append(os.Args[1:], "", "")
	switch words[0] {
	case "etcd":
		etcdmain.Main(os.Args[1:])
	case "kube-apiserver":
		os.Args = os.Args[1:]
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "controllers":
		fmt.Fprintln(os.Stderr, runControllers(words[1]))
		os.Exit(1)
	case "--version":
		fmt.Println("etcd, kube-apiserver, controllers")
	default:
		fmt.Fprintln(os.Stderr, "etcd, kube-apiserver or controllers?")
		os.Exit(2)
	}
}
