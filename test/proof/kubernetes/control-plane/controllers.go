package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// What kube-controller-manager has by default.
const (
	workers            = 5
	garbageWorkers     = 20
	garbageSyncPeriod  = 30 * time.Second
	requestsPerSecond  = 20
	requestsInOneBurst = 30
)

// Until the process ends: of Deployments, ReplicaSets, Jobs, PodDisruptionBudgets, service accounts and garbage.
func runControllers(kubeconfig string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = requestsPerSecond, requestsInOneBurst
	ctx := context.Background()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return err
	}

	shared := informers.NewSharedInformerFactory(client, 0)
	all := informerfactory.NewInformerFactory(shared, metadatainformer.NewSharedInformerFactory(metadataClient, 0))
	pods, apps := shared.Core().V1().Pods(), shared.Apps().V1()
	deployments, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), pods, client)
	if err != nil {
		return err
	}
	replicaSets := replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), pods, client, replicaset.BurstReplicas)
	jobs, err := job.NewController(ctx, client, pods, shared.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return err
	}
	disruptions := disruption.NewDisruptionController(ctx, pods, shared.Policy().V1().PodDisruptionBudgets(),
		shared.Core().V1().ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(),
		client, mapper, scales, client.Discovery())
	accounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), shared.Core().V1().ServiceAccounts(),
		shared.Core().V1().Namespaces(), client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	started := make(chan struct{})
	garbage, err := garbagecollector.NewGarbageCollector(ctx, client, metadataClient, mapper, garbagecollector.DefaultIgnoredResources(), all, started)
	if err != nil {
		return err
	}

	go deployments.Run(ctx, workers)
	go replicaSets.Run(ctx, workers)
	go jobs.Run(ctx, workers)
	go disruptions.Run(ctx, workers)
	go accounts.Run(ctx, workers)
	go garbage.Run(ctx, garbageWorkers, garbageSyncPeriod)
	go garbage.Sync(ctx, client.Discovery(), garbageSyncPeriod)
	all.Start(ctx.Done())
	close(started)
	<-ctx.Done()
	return errors.New("the controllers have ended")
}
