package registry

import "context"

type tenantKey struct{}

// WithTenant is ctx for a call that a tenant's job makes.
func WithTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

// Tenant returns whose call a HostTool runs, for a tool that serves several.
func Tenant(ctx context.Context) string {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant
}
